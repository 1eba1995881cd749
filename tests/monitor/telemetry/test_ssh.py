"""GPUs of another machine over ssh: a stand-in for ssh that runs its command here, and the real one."""

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from rltop.models.gpu import GpuSample
from rltop.monitor.telemetry.places import samplers_of
from rltop.monitor.telemetry.sampler import Sampler

NOW = 1_800_000_000.0
SSH = """\
#!/bin/sh
echo "$@" >> FOLDER/asked
[ -e FOLDER/fails ] && { cat FOLDER/fails >&2; exit 255; }
while [ "$1" != "--" ]; do shift; done
echo "Last login: never"
exec sh -c "$3"
"""
SMI = """\
#!/bin/sh
echo "$@" >> FOLDER/asked-smi
case "$*" in *clocks_event_reasons*) [ -e FOLDER/old ] && exit 6;; esac
case "$*" in *-lms*) ;; *) exit 0;; esac
while cat FOLDER/table; do sleep 0.05; done
"""
ROW = (
    "2, {index}, GPU-{index}, NVIDIA A100-SXM4-80GB, 61440, 81920, {util}, "
    "301.55, 400.00, 55, 1410, 1410, 1593, 0"
)


class Node:
    """A machine that the stand-in reaches."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.install("ssh", SSH)
        monkeypatch.setenv("PATH", f"{self.bin}:{os.environ['PATH']}")
        monkeypatch.setenv("FAKE_NVML_FILE", str(folder / "settings"))
        self.driver("sys.count=2")

    def install(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(script.replace("FOLDER", str(self.folder)))
        path.chmod(0o755)

    def driver(self, *settings: str) -> None:
        """What the driver is like from now on."""
        new = self.folder / "new-settings"
        new.write_text(" ".join(settings))
        new.replace(self.folder / "settings")

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().splitlines()


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    return Node(tmp_path, monkeypatch)


@pytest.fixture
def nvidia(node: Node, fake_driver: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    """A node with the fake driver."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(fake_driver))
    return node


@pytest.fixture
def reading() -> Iterator[Sampler]:
    """Reads one node; closed at the end."""
    (sampler,) = samplers_of("ssh://me@node1", want_tensor=True)
    yield sampler
    sampler.close()


def look(sampler: Sampler, after_s: float) -> GpuSample | None:
    sampler.order(NOW + after_s)
    assert sampler.wait(30)
    told = sampler.latest(NOW + after_s)
    assert len(told) <= 1
    return told[0] if told and isinstance(told[0], GpuSample) else None


def test_a_node_is_read_as_this_machine_would_be(nvidia: Node, reading: Sampler) -> None:
    nvidia.driver("sys.count=2", "1.util=97", "1.reasons=64", "1.processes=1", "0.mig=1")
    sample = look(reading, 0)
    assert sample is not None
    assert (sample.host, sample.backend, sample.at, sample.note) == ("node1", "ssh", NOW, "")
    told = sample.gpus[1].model_dump(exclude_defaults=True)
    assert told.pop("processes") == ({"pid": 4010, "mem_used_gb": 40.0},)
    assert told == {
        "index": 1, "uuid": "GPU-fake-1", "name": "NVIDIA Fake 80GB", "util": 97.0, "mem_used_gb": 60.0,
        "mem_total_gb": 80.0, "power_w": 400.0, "power_limit_w": 700.0, "temp_c": 55.0, "energy_j": 7000.0,
        "state": "throttled", "throttle": ("hardware thermal",), "clock_mhz": 1755.0, "clock_max_mhz": 1980.0,
        "mem_clock_mhz": 2619.0, "ecc_errors": 0, "recovery": "none",
    }  # fmt: skip
    assert [part.uuid for part in sample.gpus[0].mig] == ["MIG-fake-1000"]


def test_ssh_is_asked_for_nothing_and_checks_the_host_key(nvidia: Node, reading: Sampler) -> None:
    look(reading, 0)
    look(reading, 2)
    (line,) = nvidia.asked
    assert "-o BatchMode=yes" in line
    assert "StrictHostKeyChecking" not in line
    assert "-- me@node1 " in line


def test_over_time_tensor_activity_energy_and_a_lost_gpu_show(nvidia: Node, reading: Sampler) -> None:
    shares: list[float | None] = []
    for number, (total, busy) in enumerate(((0, 0), (10, 4), (20, 5), (30, 15))):
        nvidia.driver(
            "sys.count=2", f"0.tensor_total={total}", f"0.tensor_busy={busy}", f"0.energy={1e6 * number}"
        )
        sample = look(reading, 2 * number)
        assert sample is not None
        shares.append(sample.gpus[0].tensor_active)
    assert shares == [None, 40.0, 10.0, 100.0]
    nvidia.driver("1.error=15", "1.xid=79", "0.energy=0")
    sample = look(reading, 8)
    assert sample is not None
    assert [gpu.state for gpu in sample.gpus] == ["ok", "lost"]
    assert sample.gpus[0].energy_j == 3000.0, "a counter that starts anew goes on"
    assert sample.note == "GPU 1 of 2 lost (XID 79, the GPU has fallen off the bus); looked for every 60 s"


def test_what_the_far_driver_refuses_is_unknown(nvidia: Node, reading: Sampler) -> None:
    refusals = ("UtilizationRates", "PowerUsage", "TotalEnergyConsumption", "MemoryInfo_v2", "FieldValues",
                "ComputeRunningProcesses_v3", "MigMode", "Temperature", "UUID", "Name")  # fmt: skip
    nvidia.driver("sys.count=2", "0.error.nvmlGpmQueryDeviceSupport=3",
                  *(f"0.error.nvmlDeviceGet{name}=3" for name in refusals))  # fmt: skip
    sample = look(reading, 0)
    assert sample is not None
    told = sample.gpus[0].model_dump(exclude_defaults=True)
    assert told == {
        "index": 0, "mem_used_gb": 61.0, "mem_total_gb": 80.0, "power_limit_w": 700.0, "throttle": (),
        "clock_mhz": 1755.0, "clock_max_mhz": 1980.0, "mem_clock_mhz": 2619.0, "ecc_errors": 0,
    }  # fmt: skip
    assert sample.gpus[1].uuid == "GPU-fake-1"


def test_gpus_that_the_far_driver_no_longer_counts_are_lost(nvidia: Node, reading: Sampler) -> None:
    nvidia.driver("sys.count=3")
    look(reading, 0)
    nvidia.driver("sys.count=2", "1.id=2")
    sample = look(reading, 2)
    assert sample is not None
    assert [(gpu.index, gpu.state) for gpu in sample.gpus] == [(0, "ok"), (1, "lost"), (2, "ok")]


@pytest.mark.parametrize(
    ("error", "reason"),
    [(9, "the NVIDIA driver is not loaded"), (18, "differ in version"), (4, "no permission to use"),
     (999, "Unknown Error")],
)  # fmt: skip
def test_why_a_node_has_no_gpus_is_one_line(
    nvidia: Node, reading: Sampler, monkeypatch: pytest.MonkeyPatch, error: int, reason: str
) -> None:
    monkeypatch.setenv("FAKE_NVML", f"sys.error.nvmlInit_v2={error} sys.error.nvmlInitWithFlags={error}")
    assert look(reading, 0) is None
    assert reading.reason(NOW).startswith("node1: ")
    assert reason in reading.reason(NOW)


def test_a_far_driver_that_hangs_makes_the_node_stale(nvidia: Node, reading: Sampler) -> None:
    before = look(reading, 0)
    assert before is not None
    nvidia.driver("sys.count=2", "0.hang.nvmlDeviceGetPowerUsage=1")
    stale = look(reading, 10)
    assert stale is not None
    assert (stale.gpus, stale.stale_s) == (before.gpus, 10.0)
    assert stale.note == "stale 10 s: the NVIDIA driver of node1 has not answered for 3 s"


def test_a_connection_that_ends_is_made_anew_after_a_pause(nvidia: Node, reading: Sampler) -> None:
    assert look(reading, 0) is not None
    (nvidia.folder / "fails").write_text("ssh: connect to host node1 port 22: Connection refused\n")
    reading._probe.cut()  # pyright: ignore[reportPrivateUsage]
    stale = look(reading, 10)
    assert stale is not None
    assert stale.note == "stale 10 s: ssh node1: the connection has been lost; trying again in 1 s"
    assert len(nvidia.asked) == 1
    stale = look(reading, 12)
    assert stale is not None
    assert stale.note == (
        "stale 12 s: ssh node1: connect to host node1 port 22: Connection refused; trying again in 2 s"
    )
    (nvidia.folder / "fails").unlink()
    back = look(reading, 15)
    assert back is not None
    assert (back.at, back.note) == (NOW + 15, "")


@pytest.mark.parametrize(
    ("said", "hint"),
    [("me@node1: Permission denied (publickey).", "it must let you in without a password"),
     ("Host key verification failed.", "connect once by hand to accept its key")],
)  # fmt: skip
def test_what_ssh_complains_of_is_told_with_the_way_out(
    node: Node, reading: Sampler, said: str, hint: str
) -> None:
    (node.folder / "fails").write_text(f"{said}\r\n\n")
    assert look(reading, 0) is None
    assert reading.reason(NOW) == f"ssh node1: {said.rstrip('.')}; {hint}; trying again in 1 s"


def test_where_there_is_no_ssh_one_line_says_so(reading: Sampler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert look(reading, 0) is None
    assert (
        reading.reason(NOW) == "ssh node1: cannot start ssh: No such file or directory; trying again in 1 s"
    )


@pytest.fixture
def smi(node: Node) -> Node:
    """A node without python3, but with nvidia-smi."""
    node.install("python3", "#!/bin/sh\nexit 127\n")
    node.install("nvidia-smi", SMI)
    return node


def table(*rows: str) -> str:
    return "".join(f"{row}\n" for row in rows)


def test_where_there_is_no_python_nvidia_smi_is_read(smi: Node, reading: Sampler) -> None:
    reasons = "0x0000000000000044"
    (smi.folder / "table").write_text(
        table(f"{ROW.format(index=0, util=98)}, {reasons}", "Unable to determine the power of GPU",
              f"{ROW.format(index=1, util='[N/A]')}, [N/A]")
    )  # fmt: skip
    sample = look(reading, 0)
    assert sample is not None
    assert (sample.backend, sample.host) == ("nvidia-smi", "node1")
    busy, other = sample.gpus
    assert busy.model_dump(exclude_defaults=True) == {
        "index": 0, "uuid": "GPU-0", "name": "NVIDIA A100-SXM4-80GB", "util": 98.0, "power_w": 301.55,
        "mem_used_gb": pytest.approx(64.425, abs=1e-3), "mem_total_gb": pytest.approx(85.899, abs=1e-3),
        "power_limit_w": 400.0, "temp_c": 55.0, "clock_mhz": 1410.0, "clock_max_mhz": 1410.0,
        "mem_clock_mhz": 1593.0, "ecc_errors": 0, "state": "throttled",
        "throttle": ("power cap", "hardware thermal"),
    }  # fmt: skip
    assert (other.util, other.throttle, other.power_w) == (None, None, 301.55)


def test_nvidia_smi_is_started_once_and_its_newest_table_counts(smi: Node, reading: Sampler) -> None:
    (smi.folder / "old").touch()
    for number, util in enumerate((10, 20, 30)):
        rows = [ROW.format(index=index, util=util) for index in (0, 1)]
        (smi.folder / "table").write_text(table(*rows))
        seen = None
        for _ in range(50):
            sample = look(reading, 2 * number)
            seen = sample and sample.gpus[1].util
            if seen == util:
                break
        assert seen == util
    started = [line for line in (smi.folder / "asked-smi").read_text().splitlines() if "-lms" in line]
    assert len(started) == 1
    assert "clocks_event_reasons" not in started[0], "an older release does not know the word"


def test_a_gpu_that_nvidia_smi_calls_lost_is_lost(smi: Node, reading: Sampler) -> None:
    (smi.folder / "table").write_text(
        table(ROW.format(index=0, util=98), "2, 1, [GPU is lost]" + ", [GPU is lost]" * 11)
    )
    sample = look(reading, 0)
    assert sample is not None
    assert [gpu.state for gpu in sample.gpus] == ["ok", "lost"]


def test_a_node_with_neither_python_nor_nvidia_smi_says_so(node: Node, reading: Sampler) -> None:
    node.install("python3", "#!/bin/sh\nexit 127\n")
    if shutil.which("nvidia-smi"):
        pytest.skip("this machine has an nvidia-smi of its own")
    assert look(reading, 0) is None
    assert reading.reason(NOW).startswith("node1: no NVIDIA driver here")


def test_what_is_no_answer_is_not_waited_for_for_ever(node: Node, reading: Sampler) -> None:
    node.install("python3", '#!/bin/sh\n[ "$1" = -c ] && exit 0\nyes \'{"gpus": 3, \'\n')
    assert look(reading, 0) is None
    assert "it answers, but not to the question" in reading.reason(NOW)


@pytest.fixture
def real_ssh(tmp_path: Path, fake_driver: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[int]:
    """A real sshd of our own on this machine, and an ssh that knows its way there."""
    sshd, keygen, client = (
        shutil.which("sshd", path="/usr/sbin:/usr/bin"),
        shutil.which("ssh-keygen"),
        shutil.which("ssh"),
    )
    if not (sshd and keygen and client):
        pytest.skip("no sshd here")
    for name in ("host", "user"):
        subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    public = (tmp_path / "user.pub").read_text()
    (tmp_path / "keys").write_text(f'environment="LD_LIBRARY_PATH={fake_driver}" {public}')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    settings = f"""\
Port {port}
ListenAddress 127.0.0.1
HostKey {tmp_path}/host
AuthorizedKeysFile {tmp_path}/keys
PermitUserEnvironment yes
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
"""
    (tmp_path / "sshd_config").write_text(settings)
    host_key = " ".join((tmp_path / "host.pub").read_text().split()[:2])
    (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {host_key}\n")
    (tmp_path / "config").write_text(f"""\
Host gpu-node
  HostName 127.0.0.1
  Port {port}
  User {getpass.getuser()}
  IdentityFile {tmp_path}/user
  IdentitiesOnly yes
  UserKnownHostsFile {tmp_path}/known
  ControlMaster auto
  ControlPath {tmp_path}/c
  ControlPersist 10
""")
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "ssh"
    wrapper.write_text(f'#!/bin/sh\nexec {client} -F {tmp_path}/config "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    with subprocess.Popen(
        [sshd, "-D", "-e", "-f", tmp_path / "sshd_config"], stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        heard = next((line for line in server.stderr if "listening" in line), "")
        if not heard:
            pytest.skip("sshd does not start here; as root it wants the folder /run/sshd")
        yield port
        subprocess.run([wrapper, "-O", "exit", "gpu-node"], capture_output=True, check=False)
        server.terminate()


def test_a_real_ssh_brings_the_same(real_ssh: int) -> None:
    (sampler,) = samplers_of("ssh://gpu-node")
    sample = look(sampler, 0)
    again = look(sampler, 2)
    reason = sampler.reason(NOW)
    sampler.close()
    assert sample is not None, reason
    assert (sample.host, sample.backend, len(sample.gpus)) == ("gpu-node", "ssh", 8)
    assert again is not None
    assert again.gpus == sample.gpus
