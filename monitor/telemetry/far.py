"""The far end of `ssh.py`: asks a node's driver. Its one rule: it passes on numbers and error codes as told.

Sent as text to a `python3` over there, where nothing is installed: it imports nothing of rltop, and keeps to
Python 3.6 and ASCII. In: a line for each look, "1" where tensor activity is wanted. Out: a line of JSON for
each line in. It ends when its input does. The driver is asked in a thread, so that one that hangs can be told
of: {"hangs_s": seconds}.
"""

# pyright: basic
import ctypes as c
import json
import os
import sys
import threading
import time

U, L = c.c_uint, c.c_ulonglong
MAX_METRICS, TENSOR, RECOVERY, XID, TOO_SMALL = 1024, 5, 230, 8, 7
GONE = (1, 15, 16, 999)
PATIENCE_S = 3.0
RETRY_S = 60.0


class Fail(Exception):
    """A call that failed; its one argument is NVML's number."""


class Memory(c.Structure):
    """nvmlMemory_v2_t."""

    _fields_ = [("version", U), ("total", L), ("reserved", L), ("free", L), ("used", L)]


class Memory1(c.Structure):
    """nvmlMemory_t."""

    _fields_ = [("total", L), ("free", L), ("used", L)]


class Process(c.Structure):
    """nvmlProcessInfo_t."""

    _fields_ = [("pid", U), ("used", L), ("instance", U), ("compute", U)]


class Field(c.Structure):
    """nvmlFieldValue_t."""

    _fields_ = [("id", U), ("scope", U), ("at", c.c_longlong), ("took", c.c_longlong), ("type", U),
                ("result", U), ("value", L)]  # fmt: skip


class Event(c.Structure):
    """nvmlEventData_t."""

    _fields_ = [("gpu", c.c_void_p), ("type", L), ("data", L), ("instance", U), ("compute", U)]


class Metric(c.Structure):
    """One of nvmlGpmMetricsGet_t."""

    _fields_ = [("id", U), ("result", U), ("value", c.c_double), ("names", c.c_char_p * 3)]


class Question(c.Structure):
    """nvmlGpmMetricsGet_t; the driver reads and writes only the first n metrics."""

    _fields_ = [("version", U), ("n", U), ("earlier", c.c_void_p), ("later", c.c_void_p),
                ("metrics", Metric * MAX_METRICS)]  # fmt: skip


class Support(c.Structure):
    """nvmlGpmSupport_t."""

    _fields_ = [("version", U), ("supported", U)]


class Driver:
    """The node's NVML."""

    def __init__(self):
        try:
            self.lib = c.CDLL("libnvidia-ml.so.1")
        except OSError:
            raise Fail(12)
        self.call("nvmlInit_v2")
        self.began = time.time()
        self.counters = {}
        self.watching = set()
        self.indices = {}
        self.events = c.c_void_p()
        try:
            self.call("nvmlEventSetCreate", c.byref(self.events))
        except Fail:
            self.events = None

    def call(self, name, *args):
        try:
            function = getattr(self.lib, name)
        except AttributeError:
            raise Fail(13)
        code = function(*args)
        if code:
            raise Fail(code)

    def number(self, name, kind, *args):
        out = kind()
        self.call(name, *args, c.byref(out))
        return out.value

    def text(self, name, gpu):
        out = c.create_string_buffer(96)
        self.call(name, gpu, out, U(96))
        return out.value.decode("utf-8", "replace")

    def handle(self, index):
        gpu = c.c_void_p()
        self.call("nvmlDeviceGetHandleByIndex_v2", U(index), c.byref(gpu))
        return gpu

    def util(self, gpu):
        rates = (U * 2)()
        self.call("nvmlDeviceGetUtilizationRates", gpu, rates)
        return [rates[0]]

    def memory(self, gpu):
        info = Memory()
        info.version = c.sizeof(Memory) | 2 << 24
        self.call("nvmlDeviceGetMemoryInfo_v2", gpu, c.byref(info))
        return self.used_and_total(info)

    def memory1(self, gpu):
        info = Memory1()
        self.call("nvmlDeviceGetMemoryInfo", gpu, c.byref(info))
        return self.used_and_total(info)

    def used_and_total(self, info):
        if not info.total:
            raise Fail(3)
        return [info.used, info.total]

    def recovery(self, gpu):
        field = Field()
        field.id = RECOVERY
        self.call("nvmlDeviceGetFieldValues", gpu, c.c_int(1), c.byref(field))
        if field.result:
            raise Fail(3 if field.result == 2 else field.result)
        return [field.value & 0xFFFFFFFF]

    def processes(self, gpu):
        n = U(0)
        function = getattr(self.lib, "nvmlDeviceGetComputeRunningProcesses_v3", None)
        if function is None:
            raise Fail(13)
        code = function(gpu, c.byref(n), None)
        found = (Process * (2 * n.value + 5))()
        if code == TOO_SMALL:
            n.value = len(found)
            self.call("nvmlDeviceGetComputeRunningProcesses_v3", gpu, c.byref(n), found)
        elif code:
            raise Fail(code)
        return [
            [p.pid, None if p.used == 2**64 - 1 else p.used, self.program(p.pid)] for p in found[: n.value]
        ]

    def program(self, pid):
        try:
            with open("/proc/%d/comm" % pid, errors="replace") as file:
                return file.read().strip() or None
        except OSError:
            return None

    def slices(self, gpu):
        now, then = U(), U()
        self.call("nvmlDeviceGetMigMode", gpu, c.byref(now), c.byref(then))
        found = []
        for place in range(self.number("nvmlDeviceGetMaxMigDeviceCount", U, gpu) if now.value else 0):
            part = c.c_void_p()
            try:
                self.call("nvmlDeviceGetMigDeviceHandleByIndex", gpu, U(place), c.byref(part))
            except Fail:
                continue
            uuid = told(self.text, "nvmlDeviceGetUUID", part)
            name, memory = told(self.text, "nvmlDeviceGetName", part), told(self.memory1, part)
            found.append([place] + [None if isinstance(x, int) else x for x in (uuid, name, memory)])
        return found

    def tensor(self, index, gpu):
        pair = self.counters.get(index)
        if pair is None:
            support = Support(version=1)
            self.call("nvmlGpmQueryDeviceSupport", gpu, c.byref(support))
            if not support.supported:
                raise Fail(3)
            pair = self.counters[index] = [c.c_void_p(), c.c_void_p(), 0]
            for sample in pair[:2]:
                self.call("nvmlGpmSampleAlloc", c.byref(sample))
        self.call("nvmlGpmSampleGet", gpu, pair[1])
        pair[0], pair[1], pair[2] = pair[1], pair[0], pair[2] + 1
        if pair[2] < 2:
            raise Fail(21)
        question = Question(version=1, n=1, earlier=pair[1], later=pair[0])
        question.metrics[0].id = TENSOR
        self.call("nvmlGpmMetricsGet", c.byref(question))
        if question.metrics[0].result:
            raise Fail(question.metrics[0].result)
        return [question.metrics[0].value]

    def release(self):
        for pair in self.counters.values():
            for sample in pair[:2]:
                told(self.call, "nvmlGpmSampleFree", sample)
        self.counters = {}

    def errors(self):
        found, event = [], Event()
        while self.events is not None and len(found) < 64:
            if told(self.call, "nvmlEventSetWait_v2", self.events, c.byref(event), U(0)) is not None:
                break
            if event.type == XID:
                found.append([self.indices.get(event.gpu), event.data])
        return found

    def watch(self, gpu):
        if self.events is not None and gpu.value not in self.watching:
            self.watching.add(gpu.value)
            told(self.call, "nvmlDeviceRegisterEvents", gpu, L(XID), self.events)

    def gpu(self, index, wanted):
        gpu = self.handle(index)
        self.indices[gpu.value] = index
        number = self.number
        asks = {
            "util": (self.util, gpu),
            "memory": (self.memory, gpu),
            "memory_before_v2": (self.memory1, gpu),
            "power": (number, "nvmlDeviceGetPowerUsage", U, gpu),
            "power_limit": (number, "nvmlDeviceGetEnforcedPowerLimit", U, gpu),
            "energy": (number, "nvmlDeviceGetTotalEnergyConsumption", L, gpu),
            "temperature_before_v13": (number, "nvmlDeviceGetTemperature", U, gpu, U(0)),
            "clock": (number, "nvmlDeviceGetClockInfo", U, gpu, U(1)),
            "clock_max": (number, "nvmlDeviceGetMaxClockInfo", U, gpu, U(1)),
            "mem_clock": (number, "nvmlDeviceGetClockInfo", U, gpu, U(2)),
            "reasons": (number, "nvmlDeviceGetCurrentClocksEventReasons", L, gpu),
            "reasons_before_v12": (number, "nvmlDeviceGetCurrentClocksThrottleReasons", L, gpu),
            "ecc": (number, "nvmlDeviceGetTotalEccErrors", L, gpu, U(1), U(0)),
            "recovery": (self.recovery, gpu),
            "processes": (self.processes, gpu),
            "slices": (self.slices, gpu),
        }
        if wanted:
            asks["tensor"] = (self.tensor, index, gpu)
        uuid, name = told(self.text, "nvmlDeviceGetUUID", gpu), told(self.text, "nvmlDeviceGetName", gpu)
        if uuid in GONE:
            raise Fail(uuid)
        self.watch(gpu)
        return {
            "uuid": None if isinstance(uuid, int) else uuid,
            "name": None if isinstance(name, int) else name,
            "told": {what: answer_of(*ask) for what, ask in asks.items()},
        }

    def look(self, wanted):
        if not wanted:
            self.release()
        gpus = [
            answer_of(self.gpu, index, wanted) for index in range(self.number("nvmlDeviceGetCount_v2", U))
        ]
        # What has gone bad may be well once the library is opened anew; not too often, as that takes seconds.
        well = bool(gpus) and not any("e" in gpu for gpu in gpus)
        return {"gpus": gpus, "xids": self.errors()}, well

    def close(self):
        self.release()
        told(self.call, "nvmlShutdown")


def told(ask, *args):
    """The answer, or the driver's error number."""
    try:
        return ask(*args)
    except Fail as fail:
        return fail.args[0]


def answer_of(ask, *args):
    """A list of numbers or lists, a dict, or {"e": error}. A single number is put into a list."""
    try:
        answer = ask(*args)
    except Fail as fail:
        return {"e": fail.args[0]}
    return answer if isinstance(answer, (list, dict)) else [answer]


class Looker(threading.Thread):
    """Takes the looks, one at a time."""

    def __init__(self):
        threading.Thread.__init__(self)
        self.daemon = True
        self.wanted, self.answer = False, None
        self.since = 0.0  # when the look under way began; 0 while there is none
        self.due, self.done = threading.Event(), threading.Event()

    def run(self):
        driver = None
        while True:
            self.due.wait()
            self.due.clear()
            try:
                driver = driver or Driver()
                self.answer, well = driver.look(self.wanted)
                if not well and time.time() - driver.began > RETRY_S:
                    driver.close()
                    driver = None
            except Fail as fail:
                self.answer = {"error": fail.args[0]}
                if driver is not None:
                    driver.close()
                driver = None
            self.since = 0.0
            self.done.set()


def main():
    looker = Looker()
    looker.start()
    for line in iter(sys.stdin.readline, ""):
        looker.wanted = line.strip() == "1"
        if not looker.since:
            looker.since = time.time()
            looker.done.clear()
            looker.due.set()
        looker.done.wait(PATIENCE_S)
        since = looker.since
        answer = dict(looker.answer or {})
        if since:
            answer["hangs_s"] = time.time() - since
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    os._exit(0)  # a driver that hangs must not keep the process


if __name__ == "__main__":
    main()
