"""What a tinker-cookbook program prints, where there is no more than that: `python train.py | tee run.log`.

Its one rule: the tables are its metrics, rounded to six decimals, and are read as the metrics file is; the
log lines between them as logs.log is. Who has the run's folder should open that: it tells more.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import cast

from ....models.event import Event
from ....models.run import RunInfo
from ...filesource import FileSource
from ...source import Format, Line, Probe, Source
from ...tells import Tells
from ...transport import open_transport
from ..logtime import stamp_of
from ..verl.rayline import without_colour
from ..verl.scalar import scalar
from .config import Settings, info_of
from .facts import RunFacts
from .logs import LogParser
from .metrics import MetricsParser
from .recognise import is_marked, metrics_in
from .tables import HEADER, Tables

PREFIX = re.compile(
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]+(?:std(?:out|err) [FP] )?"
)
"""The time that Kubernetes, `ts` and the like put before each line."""
RECORD = re.compile(r"[\w.]+:\d+ \[(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\]")
KEY = re.compile(r"^[^│|\n]{0,40}[│|] ([\w./:@-]+) ", re.MULTILINE)
STEP_TITLE = re.compile(r"^(?:\S+ )?[ \t]*Step \d+[ \t]*$", re.MULTILINE)
OURS = re.compile(
    r"^(?:\S+ )?(?:tinker_cookbook|tinker)\.[\w.]+:\d+ \[(?:INFO|WARNING|ERROR)\]", re.MULTILINE
)
LOGGING_TO = re.compile(r"Logging to: (\S+)")
PRICING = re.compile(r"Pricing for (\S+): ")
COMMAND = re.compile(r"Command line invocation:|\btinker_cookbook\.recipes\.\S+")
SETTING = re.compile(r"(?<!\S)(?P<name>[a-z_][\w.]*)=(?P<value>'[^']*'|\"[^\"]*\"|\S+)")
LONGEST_COMMAND = 8000
ROUNDED = (
    "read from the printed tables: metrics are rounded to six decimals, and long names are cut; the run's "
    "folder (log_path) tells more"
)


class ConsoleParser:
    """Events of the lines of such a console."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._facts = RunFacts()
        self._metrics = MetricsParser(self._facts)
        self._logs = LogParser(self._facts)
        self._tables = Tables()
        self._began = False
        self._number = 0

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        text, at = without_colour(line.text), line.at
        if (prefix := PREFIX.match(text)) is not None:
            text, at = text[prefix.end() :], stamp_of(prefix[0]) or at
        if not self._began:
            self._began = True
            yield RunInfo(framework="tinker", platform="tinker", notes=(ROUNDED,))
        self._number = line.number
        taken = self._tables.take(text)
        yield from self._row(self._tables.row, at)
        if not taken:
            yield from self._said(text)
            yield from self._logs.feed(Line(text, at, line.number))

    def flush(self) -> Iterator[Event]:
        """A table that broke off, a traceback that the log ends in."""
        yield from self._row(self._tables.end(), None)
        yield from self._metrics.flush()
        yield from self._logs.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew."""
        self._tables.end()
        yield from self._metrics.restart()
        yield from self._logs.restart()

    def _row(self, row: str, at: float | None) -> Iterator[Event]:
        if row:
            yield from self._metrics.feed(Line(row, at, self._number))
            self.bad_lines, self.first_bad = self._metrics.bad_lines, self._metrics.first_bad

    def _said(self, text: str) -> Iterator[Event]:
        """What a log line tells of the run as a whole."""
        if "Logging to: " in text and (folder := LOGGING_TO.search(text)) is not None and RECORD.match(text):
            yield RunInfo(name=PurePosixPath(folder[1].rstrip("/")).name or None)
        elif "Pricing for " in text and (pricing := PRICING.search(text)) is not None and RECORD.match(text):
            yield RunInfo(model=pricing[1])
        elif "=" in text and len(text) < LONGEST_COMMAND and COMMAND.search(text) is not None:
            info = info_of(settings_of(text))
            self._facts.max_tokens = info.max_tokens or self._facts.max_tokens
            yield info


def settings_of(command: str) -> Settings:
    """The settings of a command line, `name=value` and `part.name=value`."""
    settings: Settings = {}
    for match in SETTING.finditer(command):
        value = scalar(match["value"])
        part, _, name = match["name"].rpartition(".")
        inner = settings.setdefault(part, {}) if part else settings
        if isinstance(inner, dict):
            cast(Settings, inner)[name] = value
    return settings


def score(probe: Probe) -> float:
    """How sure it is that a file is the console of a cookbook program."""
    if probe.is_dir or not ("Metric" in probe.head or "Metric" in probe.tail or "tinker" in probe.head):
        return 0.0
    head, tail = (without_colour(text) for text in (probe.head, probe.tail))
    tables = len(HEADER.findall(head)) + len(HEADER.findall(tail))
    ours = OURS.search(head) or OURS.search(tail)
    if not (ours or (tables > 1 and STEP_TITLE.search(head) and is_marked(set(KEY.findall(head))))):
        return 0.0  # other trainers print such tables too
    folder = probe.path.parent
    if probe.path.name == "logs.log" and metrics_in(folder, _names(folder)) is not None:
        return 0.0  # its folder is the run
    return (0.85 if tables else 0.5) if ours else 0.45


def open_console(path: Path) -> Sequence[Source]:
    """The one source of a console."""
    return [FileSource(open_transport(path), ConsoleParser())]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []


TELLS = Tells(
    steps="title of the table",
    total="`progress/done_frac`, planned batches",
    tokens="`env/all/total_ac_tokens`, `tokens/*`",
    length="`env/all/ac_tokens_per_turn`",
    clip="where the mean is the cap",
    reward="`env/all/reward/total`",
    time="`time/total`",
    config="command line",
    state="last step of the plan",
)
FORMAT = Format(name="Tinker console", score=score, open=open_console, tells=TELLS)
