/* A libnvidia-ml.so.1 for tests: a table of settings, and a driver that answers from it.
 *
 * A setting is "scope.key=value". The scope is a GPU's number, `*` for every GPU, or `sys`. Keys are values
 * (util, mem_used, …), `id` (which GPU answers under that number), `error` and `error.<function>` (an NVML
 * error number), `xid` (told once to whoever has registered, then 0), `mig` (how many parts), `processes`,
 * `hang.<function>` (the call does not return while this is not 0; with sys.loud it says so).
 * The first settings are read from FAKE_NVML, separated by blanks; a test changes them with fake_set.
 * stubs.inc, made from pynvml's own source, answers NOT_SUPPORTED to all that is not written here.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, TIMEOUT = 10 };
enum { NO_DATA = 21 };
enum { SYS = -2, ALL = -1, MAX_GPUS = 64, MAX_ROWS = 512, MIG = 1000, MIG_PARTS = 7 };
#define EXPORT __attribute__((visibility("default")))

struct row { int scope; char key[80]; double value; };
struct device { int number; };
static struct row settings[MAX_ROWS], calls[MAX_ROWS];
static int n_settings, n_calls, attached;
static struct device devices[MAX_GPUS], parts[MAX_GPUS][MIG_PARTS];
static unsigned char watched[MAX_GPUS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct row *find(struct row *rows, int n, int scope, const char *key) {
    for (int i = 0; i < n; i++)
        if (rows[i].scope == scope && !strcmp(rows[i].key, key)) return &rows[i];
    return NULL;
}

static struct row *find_or_add(struct row *rows, int *n, int scope, const char *key) {
    struct row *row = find(rows, *n, scope, key);
    if (row || *n == MAX_ROWS) return row;
    row = &rows[(*n)++];
    row->scope = scope;
    row->value = 0;
    snprintf(row->key, sizeof row->key, "%s", key);
    return row;
}

static double setting(int scope, const char *key, double otherwise) {
    pthread_mutex_lock(&mutex);
    struct row *row = find(settings, n_settings, scope, key);
    if (!row && scope >= 0) row = find(settings, n_settings, ALL, key);
    double value = row ? row->value : otherwise;
    pthread_mutex_unlock(&mutex);
    return value;
}

EXPORT void fake_set(const char *text) {
    char scope[16], key[80];
    double value;
    if (sscanf(text, "%15[^.].%79[^=]=%lf", scope, key, &value) != 3) abort();
    pthread_mutex_lock(&mutex);
    int number = !strcmp(scope, "sys") ? SYS : !strcmp(scope, "*") ? ALL : atoi(scope);
    find_or_add(settings, &n_settings, number, key)->value = value;
    pthread_mutex_unlock(&mutex);
}

/* As freshly loaded, without settings; what hangs goes on. */
EXPORT void fake_reset(void) {
    pthread_mutex_lock(&mutex);
    n_settings = n_calls = 0;
    memset(watched, 0, sizeof watched);
    pthread_mutex_unlock(&mutex);
}

EXPORT int fake_calls(const char *function) {
    pthread_mutex_lock(&mutex);
    struct row *row = find(calls, n_calls, SYS, function);
    int count = row ? (int)row->value : 0;
    pthread_mutex_unlock(&mutex);
    return count;
}

__attribute__((constructor)) static void read_environment(void) {
    char *text = getenv("FAKE_NVML");
    if (!text) return;
    text = strdup(text);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) fake_set(word);
    free(text);
}

static void count_call(const char *function) {
    pthread_mutex_lock(&mutex);
    find_or_add(calls, &n_calls, SYS, function)->value++;
    pthread_mutex_unlock(&mutex);
}

/* FAKE_NVML_FILE: settings that change while the process runs, read again whenever the file has been replaced. */
static void read_file(void) {
    static ino_t seen;
    static struct timespec seen_at;
    char *path = getenv("FAKE_NVML_FILE"), word[128];
    struct stat now;
    if (!path || stat(path, &now)) return;
    if (now.st_ino == seen && now.st_mtim.tv_sec == seen_at.tv_sec && now.st_mtim.tv_nsec == seen_at.tv_nsec) return;
    seen = now.st_ino;
    seen_at = now.st_mtim;
    FILE *file = fopen(path, "r");
    if (!file) return;
    while (fscanf(file, "%127s", word) == 1) fake_set(word);
    fclose(file);
}

/* What every call does first: be counted, hang, fail. */
static int enter(int scope, const char *function) {
    char key[96];
    count_call(function);
    read_file();
    snprintf(key, sizeof key, "hang.%s", function);
    if (setting(scope, key, 0) && setting(SYS, "loud", 0)) fprintf(stderr, "%s hangs\n", function);
    while (setting(scope, key, 0)) usleep(1000);
    snprintf(key, sizeof key, "error.%s", function);
    int error = (int)setting(scope, key, 0);
    if (!error && scope >= 0) error = (int)setting(scope, "error", 0);
    if (!error && scope >= 0 && !attached) error = UNINITIALIZED;
    return error;
}

#define ENTER(scope) int error = enter(scope, __func__); if (error) return error
#define ENTER_GPU if (!gpu) return INVALID; const int g = gpu->number; ENTER(g)

static int count(void) { return (int)setting(SYS, "count", 8); }
static int put(char *into, unsigned size, const char *text) {
    return snprintf(into, size, "%s", text) < (int)size ? OK : TOO_SMALL;
}

EXPORT int nvmlInitWithFlags(unsigned flags) { (void)flags; ENTER(SYS); attached++; return OK; }
EXPORT int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
EXPORT int nvmlShutdown(void) { ENTER(SYS); if (!attached) return UNINITIALIZED; attached--; return OK; }
EXPORT int nvmlSystemGetDriverVersion(char *into, unsigned size) { ENTER(SYS); return put(into, size, "580.82.07"); }
EXPORT int nvmlSystemGetCudaDriverVersion(int *version) { ENTER(SYS); *version = 13000; return OK; }
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version) { return nvmlSystemGetCudaDriverVersion(version); }
EXPORT const char *nvmlErrorString(int code) { (void)code; return "an error of the fake driver"; }
EXPORT int nvmlDeviceGetCount_v2(unsigned *n) {
    ENTER(SYS);
    if (!attached) return UNINITIALIZED;
    *n = (unsigned)count();
    return OK;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, struct device **gpu) {
    if ((int)i >= count()) return INVALID;
    int number = (int)setting((int)i, "id", i);
    ENTER(number);
    devices[number].number = number;
    *gpu = &devices[number];
    return OK;
}
EXPORT int nvmlDeviceGetUUID(struct device *gpu, char *into, unsigned size) {
    ENTER_GPU;
    char text[64];
    snprintf(text, sizeof text, g < MIG ? "GPU-fake-%d" : "MIG-fake-%d", g);
    return put(into, size, text);
}
EXPORT int nvmlDeviceGetName(struct device *gpu, char *into, unsigned size) {
    ENTER_GPU;
    if (setting(g, "garbled", 0)) return put(into, size, "\xff\xfe");
    return put(into, size, g < MIG ? "NVIDIA Fake 80GB" : "NVIDIA Fake 80GB MIG 1g.10gb");
}
EXPORT int nvmlDeviceGetCudaComputeCapability(struct device *gpu, int *major, int *minor) {
    ENTER_GPU;
    *major = 9;
    *minor = 0;
    return OK;
}
EXPORT int nvmlDeviceGetNumGpuCores(struct device *gpu, unsigned *n) { ENTER_GPU; *n = 16896; return OK; }
EXPORT int nvmlDeviceGetArchitecture(struct device *gpu, unsigned *number) { ENTER_GPU; *number = 9; return OK; }
EXPORT int nvmlDeviceGetUtilizationRates(struct device *gpu, unsigned *rates) {
    ENTER_GPU;
    rates[0] = (unsigned)setting(g, "util", 50);
    rates[1] = rates[0] / 2;
    return OK;
}
/* v1: total, free, used. */
EXPORT int nvmlDeviceGetMemoryInfo(struct device *gpu, unsigned long long *info) {
    ENTER_GPU;
    info[0] = (unsigned long long)setting(g, "mem_total", 80e9);
    info[2] = (unsigned long long)(setting(g, "mem_used", 60e9) + setting(g, "mem_reserved", 1e9));
    info[1] = info[0] - info[2];
    return OK;
}
/* v2: version, total, reserved, free, used. */
EXPORT int nvmlDeviceGetMemoryInfo_v2(struct device *gpu, unsigned long long *info) {
    ENTER_GPU;
    info[1] = (unsigned long long)setting(g, "mem_total", 80e9);
    info[2] = (unsigned long long)setting(g, "mem_reserved", 1e9);
    info[4] = (unsigned long long)setting(g, "mem_used", 60e9);
    info[3] = info[1] - info[2] - info[4];
    return OK;
}
EXPORT int nvmlDeviceGetPowerUsage(struct device *gpu, unsigned *mw) {
    ENTER_GPU;
    *mw = (unsigned)setting(g, "power", 400e3);
    return OK;
}
EXPORT int nvmlDeviceGetTotalEnergyConsumption(struct device *gpu, unsigned long long *mj) {
    ENTER_GPU;
    *mj = (unsigned long long)setting(g, "energy", 7e6);
    return OK;
}
EXPORT int nvmlDeviceGetTemperature(struct device *gpu, unsigned sensor, unsigned *c) {
    (void)sensor;
    ENTER_GPU;
    *c = (unsigned)setting(g, "temp", 55);
    return OK;
}
struct temperature { unsigned version, sensor; int c; };
EXPORT int nvmlDeviceGetTemperatureV(struct device *gpu, struct temperature *t) {
    ENTER_GPU;
    t->c = (int)setting(g, "temp", 55);
    return OK;
}
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(struct device *gpu, unsigned long long *bits) {
    ENTER_GPU;
    *bits = (unsigned long long)setting(g, "reasons", 0);
    return OK;
}
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(struct device *gpu, unsigned long long *bits) {
    ENTER_GPU;
    *bits = (unsigned long long)setting(g, "reasons", 0);
    return OK;
}
EXPORT int nvmlDeviceGetEnforcedPowerLimit(struct device *gpu, unsigned *mw) {
    ENTER_GPU;
    *mw = (unsigned)setting(g, "power_limit", 700e3);
    return OK;
}
EXPORT int nvmlDeviceGetClockInfo(struct device *gpu, int type, unsigned *mhz) {
    ENTER_GPU;
    *mhz = (unsigned)setting(g, type == 2 ? "mem_clock" : "clock", type == 2 ? 2619 : 1755);
    return OK;
}
EXPORT int nvmlDeviceGetMaxClockInfo(struct device *gpu, int type, unsigned *mhz) {
    (void)type;
    ENTER_GPU;
    *mhz = (unsigned)setting(g, "clock_max", 1980);
    return OK;
}
EXPORT int nvmlDeviceGetTotalEccErrors(struct device *gpu, int kind, int since, unsigned long long *n) {
    ENTER_GPU;
    if (kind != 1 || since != 0) return INVALID;
    *n = (unsigned long long)setting(g, "ecc", 0);
    return OK;
}
union value { unsigned u; double d; };
struct field { unsigned id, scope; long long at, took; int type, result; union value value; };
EXPORT int nvmlDeviceGetFieldValues(struct device *gpu, int n, struct field *fields) {
    ENTER_GPU;
    for (int i = 0; i < n; i++) {
        fields[i].result = fields[i].id == 230 ? (int)setting(g, "recovery_error", 0) : INVALID;
        fields[i].value.u = (unsigned)setting(g, "recovery", 0);
    }
    return OK;
}
struct process { unsigned pid; unsigned long long used; unsigned instance, compute; };
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(struct device *gpu, unsigned *n, struct process *found) {
    ENTER_GPU;
    unsigned count = (unsigned)setting(g, "processes", 0), room = *n;
    *n = count;
    if (room < count) return TOO_SMALL;
    for (unsigned i = 0; i < count; i++) {
        double told = setting(g, "process_mem", 40e9);
        unsigned long long used = told < 0 ? ~0ULL : (unsigned long long)told;
        found[i] = (struct process){4000 + 10 * (unsigned)g + i, used, ~0u, ~0u};
    }
    return OK;
}
EXPORT int nvmlSystemGetProcessName(unsigned pid, char *into, unsigned size) {
    ENTER(SYS);
    return pid < 4000 ? NOT_FOUND : put(into, size, "/usr/bin/python3.11");
}

/* MIG: the parts of GPU g are the devices MIG + 10 g, MIG + 10 g + 1, …; every second place is empty. */
EXPORT int nvmlDeviceGetMigMode(struct device *gpu, unsigned *current, unsigned *pending) {
    ENTER_GPU;
    if (setting(g, "mig", -1) < 0) return NOT_SUPPORTED;
    *current = *pending = setting(g, "mig", 0) > 0;
    return OK;
}
EXPORT int nvmlDeviceGetMaxMigDeviceCount(struct device *gpu, unsigned *n) {
    ENTER_GPU;
    *n = MIG_PARTS;
    return OK;
}
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(struct device *gpu, unsigned i, struct device **part) {
    ENTER_GPU;
    if (i % 2 || i / 2 >= setting(g, "mig", 0)) return NOT_FOUND;
    parts[g][i].number = MIG + 10 * g + (int)i;
    *part = &parts[g][i];
    return OK;
}

/* Errors: `xid` of a GPU is told once by whichever set of events waits first. */
struct event { struct device *gpu; unsigned long long type, data; unsigned instance, compute; };
EXPORT int nvmlEventSetCreate(void **set) { ENTER(SYS); *set = calloc(1, 1); return OK; }
EXPORT int nvmlEventSetFree(void *set) { ENTER(SYS); free(set); return OK; }
EXPORT int nvmlDeviceRegisterEvents(struct device *gpu, unsigned long long types, void *set) {
    ENTER_GPU;
    if (!set || types != 8) return INVALID;
    watched[g] = 1;
    return OK;
}
EXPORT int nvmlEventSetWait_v2(void *set, struct event *event, unsigned ms) {
    ENTER(SYS);
    if (!set || ms) return INVALID; /* whoever waits for errors holds up everything else */
    for (int g = 0; g < MAX_GPUS; g++) {
        unsigned xid = watched[g] ? (unsigned)setting(g, "xid", 0) : 0;
        if (!xid) continue;
        char told[32];
        snprintf(told, sizeof told, "%d.xid=0", g);
        fake_set(told);
        *event = (struct event){&devices[g], 8, xid, ~0u, ~0u};
        return OK;
    }
    return TIMEOUT;
}

/* GPM: a sample remembers the GPU's busy and total counts, and a metric is the quotient of two differences. */
struct sample { int gpu; double busy, total; };
struct metric { unsigned id; int result; double value; const char *names[3]; };
struct question { unsigned version, n; struct sample *earlier, *later; struct metric metrics[1]; };
EXPORT int nvmlGpmQueryDeviceSupport(struct device *gpu, unsigned *version_supported) {
    ENTER_GPU;
    version_supported[1] = (unsigned)setting(g, "gpm", 1);
    return OK;
}
EXPORT int nvmlGpmSampleAlloc(struct sample **sample) {
    ENTER(SYS);
    *sample = calloc(1, sizeof **sample);
    return OK;
}
EXPORT int nvmlGpmSampleFree(struct sample *sample) { ENTER(SYS); free(sample); return OK; }
EXPORT int nvmlGpmSampleGet(struct device *gpu, struct sample *sample) {
    ENTER_GPU;
    sample->gpu = g;
    sample->busy = setting(g, "tensor_busy", 0);
    sample->total = setting(g, "tensor_total", 0);
    return OK;
}
EXPORT int nvmlGpmMetricsGet(struct question *q) {
    ENTER(q->later->gpu);
    double total = q->later->total - q->earlier->total;
    q->metrics[0].result = q->metrics[0].id != 5 ? NOT_SUPPORTED : total <= 0 ? NO_DATA : OK;
    q->metrics[0].value = total > 0 ? 100 * (q->later->busy - q->earlier->busy) / total : 0;
    return OK;
}

#define STUB(name) EXPORT int name(void) { count_call(#name); return NOT_SUPPORTED; }
#include "stubs.inc"
