"""Finds what went wrong in a log, and whether the run died of it.

Its one rule: only the driver's own end is a crash. Workers, reward functions and data loaders print
tracebacks and live on; an exception that a destructor ignored is nothing at all.
"""

import re
from collections.abc import Iterator

from ....models.event import Ended, Event, LogLine
from .rayline import without_count

TRACEBACK = "Traceback (most recent call last)"
HYDRA_ERROR = "Error executing job with overrides"
IGNORED = ("Exception ignored in", "Exception in thread")
EXCEPTION = re.compile(
    r"(?P<name>(?:[A-Za-z_]\w*\.)*[A-Z]\w*|[a-z_][\w.]*\.[a-z]\w*)(?:\([\w.]*\))?(?::\s?(?P<text>.*))?"
)
RANK = re.compile(r"\[rank\d+\]: ?")
"""How torchrun marks what a rank says."""
TOP_FRAME = re.compile(r'\s+File "(?!<string>)[^"]*", line \d+, in (?:<module>|_run_module_as_main)\s*$')
OWN_FRAME = re.compile(r'File "[^"]*(?:verl|hydra|torchrun|torch/distributed|main_\w+\.py|train)')
"""A frame of the trainer or its launcher, as against code that a reward function ran."""
ANY_SCRIPT = re.compile(r'File "(?!/tmp/|/var/tmp/|[^"]*site-packages)[^"]+\.py"')
"""For a log of which only the trainer's own program writes, whatever its name."""
CHAINED = ("During handling of the above", "The above exception was", "Original Traceback")
OOM = re.compile(
    r"OutOfMemoryError|CUDA out of memory|OOM killer|low on memory|\bOOM\b|out of memory", re.IGNORECASE
)
KILLED = re.compile(r"worker died or was killed|low on memory|OOM|out of memory", re.IGNORECASE)
LAUNCHER_ERROR = "ChildFailedError"
SCHEDULER = re.compile(r"slurmstepd: error: \*+ (.*CANCELLED.*?)\**$")
SHELL = re.compile(r"line \d+:\s+\d+ (Killed|Aborted|Terminated|Segmentation fault|Bus error)")
JOB = re.compile(r"Job '?([\w-]*raysubmit_\w+)'? (failed|succeeded|was stopped)")
MOST_MESSAGES = 200
LONGEST_MESSAGE = 500
PATIENCE = 2000
"""Statements of others after which a traceback counts as ended."""


class _Trace:
    """One traceback that is being read."""

    __slots__ = ("age", "driver", "frames", "message", "top")

    def __init__(self, driver: bool = False) -> None:
        self.driver = driver
        self.top = False
        """It starts where a program starts: nothing caught the exception."""
        self.message = ""
        self.frames = 0
        self.age = 0


class Faults:
    """Reads what each process says of its failures."""

    def __init__(self, own: re.Pattern[str] = OWN_FRAME) -> None:
        self._own = own
        """By which frames a traceback is told to be the trainer's."""
        self._open: dict[str, _Trace] = {}
        self._ignore: set[str] = set()
        self._said: set[str] = set()
        self._cause = ""
        """The last failure of a rank, which the launcher's own message does not repeat."""

    @property
    def reading(self) -> bool:
        """Whether a traceback is open: then every line matters."""
        return bool(self._open)

    def read(self, by: str, words: str, at: float | None) -> Iterator[Event]:
        """The events of one statement."""
        words = RANK.sub("", without_count(words), count=1) if "[ra" in words else without_count(words)
        trace = self._open.get(by)
        if HYDRA_ERROR in words and not by:
            yield from self._close(by, at)
            self._open[by] = _Trace(driver=True)
            return
        if TRACEBACK in words:
            yield from self._traceback(by, words, trace, at)
            return
        if words.startswith(IGNORED):
            self._ignore.add(by)
            return
        if trace is not None:
            yield from self._continue(by, words, trace, at)
        if self._open:
            yield from self._give_up_waiting(at)
        if end := _end_from_outside(words):
            yield Ended(status="crashed", at=at, message=end)
        elif by == "raylet" and KILLED.search(words):
            yield from self._log("A Ray worker was killed: " + words, "oom", at)
        elif "CUDA out of memory" in words and trace is None:
            yield from self._log(words.strip(), "oom", at)

    def flush(self, at: float | None = None) -> Iterator[Event]:
        """Nothing more is to come: tracebacks end where they are."""
        for by in list(self._open):
            yield from self._close(by, at)

    def clear(self) -> None:
        """What was being read is void: the log starts again."""
        self._open.clear()
        self._ignore.clear()

    def _traceback(self, by: str, words: str, trace: _Trace | None, at: float | None) -> Iterator[Event]:
        if by in self._ignore:
            self._ignore.discard(by)
            return
        if trace is not None and (trace.driver or words.startswith(CHAINED)):
            return  # the chain of exceptions goes on
        yield from self._close(by, at)
        self._open[by] = _Trace()

    def _continue(self, by: str, words: str, trace: _Trace, at: float | None) -> Iterator[Event]:
        trace.age = 0
        if not words or words[0] in " \t|+":
            if trace.frames == 0 and words.strip():
                trace.top = not by and TOP_FRAME.match(words) is not None
                trace.frames = 1
            trace.driver = trace.driver or (trace.top and self._own.search(words) is not None)
        elif match := EXCEPTION.fullmatch(words.strip()):
            if match["text"] is not None or match["name"][0].isupper() or "." in match["name"]:
                trace.message = words.strip()
        elif not words.startswith(CHAINED):
            yield from self._close(by, at)

    def _give_up_waiting(self, at: float | None) -> Iterator[Event]:
        for by, trace in list(self._open.items()):
            trace.age += 1
            if trace.age > PATIENCE:
                yield from self._close(by, at)

    def _close(self, by: str, at: float | None) -> Iterator[Event]:
        trace = self._open.pop(by, None)
        if trace is None:
            return
        message = trace.message[:LONGEST_MESSAGE].rstrip(": ")
        if LAUNCHER_ERROR in message:
            message = self._cause or message
        elif message:
            self._cause = message
            yield from self._log(message, "oom" if OOM.search(message) else "traceback", at)
        if trace.driver:
            yield Ended(status="crashed", at=at, message=message or HYDRA_ERROR)

    def _log(self, text: str, topic: str, at: float | None) -> Iterator[Event]:
        text = text[:LONGEST_MESSAGE]
        if text in self._said or len(self._said) >= MOST_MESSAGES:
            return
        self._said.add(text)
        yield LogLine(text=text, level="error", at=at, topic="oom" if topic == "oom" else "traceback")


def _end_from_outside(words: str) -> str:
    """What ended the run without its own doing: a scheduler, the shell's report, Ray's job manager."""
    if match := SCHEDULER.search(words):
        return match[1].strip()
    if match := SHELL.search(words):
        return f"{match[1]}, says the shell"
    if (match := JOB.search(words)) and match[2] == "failed":
        return f"Ray job {match[1]} failed"
    return ""
