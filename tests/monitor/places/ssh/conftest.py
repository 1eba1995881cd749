"""A far side on this machine: an `ssh` on the PATH that hands its command to a shell here."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from rltop.models.event import Event, SourceStatus
from rltop.monitor.places.mirror import MirrorSource
from rltop.monitor.places.ssh import address_of
from rltop.monitor.places.ssh_follow import SshFilling
from rltop.monitor.reader import Pause

ROW = b'{"step": %d, "progress/batch": %d, "progress/done_frac": 0.5, "env/all/total_ac_tokens": 10}\n'

FAKE_SSH = """#!{python}
import os, signal, subprocess, sys
from pathlib import Path
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
here = Path({here!r})
with (here / "asked").open("a") as file:
    print("\\0".join(sys.argv[1:]), file=file)
(here / "pid").write_text(str(os.getpid()))
if (here / "refuses").exists():
    sys.stderr.write((here / "refuses").read_text())
    sys.exit(255)
if (here / "silent").exists():
    sys.stdin.read()
    sys.exit(255)
print("Welcome!  Last login: a moment ago", flush=True)
lives = here / "lives"
if lives.exists() and (left := lives.read_text().split()):
    lives.write_text(" ".join(left[1:]))
    shell = subprocess.Popen(["sh", "-c", sys.argv[-1]], stdout=subprocess.PIPE, bufsize=0)
    most = int(left[0])
    while most and (data := shell.stdout.read(most)):
        os.write(1, data)
        most -= len(data)
    shell.kill()
    sys.exit(255)
os.execvp("sh", ["sh", "-c", sys.argv[-1]])
"""


class FarSide:
    """Says how the fake ssh behaves."""

    def __init__(self, here: Path, path: Path) -> None:
        self.here = here
        self.path = path
        """The folder that stands for the far side's disk."""

    @property
    def asked(self) -> list[list[str]]:
        """The words that ssh was started with, each time."""
        file = self.here / "asked"
        return [line.split("\0") for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def pid(self) -> int:
        """The process of the newest ssh, and of the shell that it has become."""
        return int((self.here / "pid").read_text())

    def refuse(self, words: str | None) -> None:
        """Fail with these last words from now on, or no more."""
        if words is None:
            (self.here / "refuses").unlink()
        else:
            (self.here / "refuses").write_text(words)

    def be_silent(self) -> None:
        """Answer nothing from now on."""
        (self.here / "silent").touch()

    def die_after(self, counts: Iterable[int]) -> None:
        """The next connections break after so many bytes each."""
        (self.here / "lives").write_text(" ".join(map(str, counts)))


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FarSide:
    """A far side, reached by whatever starts `ssh`."""
    here = tmp_path / "fake ssh"
    here.mkdir()
    (tmp_path / "far").mkdir()
    ssh = here / "ssh"
    ssh.write_text(FAKE_SSH.format(python=sys.executable, here=str(here)))
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{here}{os.pathsep}{os.environ['PATH']}")
    return FarSide(here, tmp_path / "far")


class Impatient(Pause):
    """Waits for nothing, and remembers how long it should have."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        return self.is_set()


class Follower:
    """Drives what a thread would, a look at a time."""

    def __init__(self, target: str, folder: Path, silence_s: float = 30.0) -> None:
        folder.mkdir(exist_ok=True)
        self.pause = Impatient()
        self.filling = SshFilling(address_of(target), silence_s=silence_s)
        self.events: list[Event] = []
        self.looks = self.filling.fill(folder, self.pause)

    def look(self) -> list[Event]:
        """The events up to where all there is has been fetched, or could not be."""
        told: list[Event] = []
        while events := next(self.looks):
            told += events
        self.events += told
        return told

    def here(self, name: str = "") -> bytes:
        """A mirrored file, or the target itself."""
        assert self.filling.target is not None
        return (self.filling.target / name if name else self.filling.target).read_bytes()

    def close(self) -> None:
        """End the connection."""
        self.looks.close()


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Callable[..., Follower]]:
    """Follow a target; all is let go of after the test."""
    followers: list[Follower] = []

    def start(target: str, silence_s: float = 30.0) -> Follower:
        followers.append(Follower(target, tmp_path / f"mirror{len(followers)}", silence_s))
        return followers[-1]

    yield start
    for follower in followers:
        follower.close()


def read_all(source: MirrorSource) -> list[Event]:
    """All events of one look, as `check` takes it."""
    events = source.poll(0.0)
    while source.more:
        events += source.poll(0.0)
    return events + source.close()


def statuses(events: Iterable[Event]) -> list[SourceStatus]:
    """How reading went, but for the words about the way there while nothing is amiss."""
    told = [event for event in events if isinstance(event, SourceStatus)]
    on_the_way = re.compile(r": (connecting|fetched \d+ of \d+ MiB)$")
    return [
        status
        for status in told
        if not on_the_way.search(status.reason) and (status.source, status.state) != ("pending", "reading")
    ]
