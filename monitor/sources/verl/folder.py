"""Opens what there is of one veRL run: its Hydra folder, its console, its metrics file.

Its one rule: what is told later wins, so the configuration that was asked for comes first, then the
console, and the metrics file only once the console has been read as far as it goes.
"""

from collections.abc import Sequence
from pathlib import Path

from ....models.event import Event
from ...filesource import FileSource
from ...source import Source
from ...transport import open_transport
from . import recognise
from .console import ConsoleParser
from .easyr1 import SettingsSource
from .filelogger import FileLoggerParser
from .hydra import HydraSource
from .telling import Telling


class Follower:
    """A source that is read behind another one, which knows of the restarts between the steps."""

    def __init__(self, leader: Source, source: Source) -> None:
        self._leader = leader
        self._source = source

    @property
    def more(self) -> bool:
        """Whether more lies waiting right now."""
        return self._source.more

    def poll(self, now: float) -> list[Event]:
        """Nothing while the leader has more to say."""
        return [] if self._leader.more else self._source.poll(now)

    def close(self) -> list[Event]:
        """What was held back."""
        return self._source.close()


def open_console(path: Path) -> Sequence[Source]:
    """A console, and the Hydra folder beside it."""
    return [*_hydra(path.parent), FileSource(open_transport(path), ConsoleParser())]


def open_file_logger(path: Path) -> Sequence[Source]:
    """A metrics file, and EasyR1's settings beside it."""
    beside = [SettingsSource(path.parent)] if (path.parent / SettingsSource.name).is_file() else []
    return [*beside, FileSource(open_transport(path), FileLoggerParser())]


def open_folder(path: Path) -> Sequence[Source]:
    """All that belongs to the run in a folder."""
    sources = _hydra(path)
    consoles, loggers = recognise.consoles(path), recognise.file_loggers(path)
    if not consoles:
        return sources + [FileSource(open_transport(log), FileLoggerParser()) for log, _ in loggers[:1]]
    telling = Telling()
    console = FileSource(open_transport(consoles[0][0]), ConsoleParser(telling))
    sources.append(console)
    if loggers:
        logger = FileSource(open_transport(loggers[0][0]), FileLoggerParser(telling))
        sources.append(Follower(console, logger))
    return sources


def _hydra(folder: Path) -> list[Source]:
    inside = recognise.hydra_folder(folder)
    if (folder / SettingsSource.name).is_file():
        return [SettingsSource(folder)]
    return [HydraSource(inside)] if inside else []
