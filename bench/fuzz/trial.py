"""One broken log, read the way that a session reads it: probed, opened, polled, closed, folded, now and then
priced. Its one rule: what it finds does not depend on what was tried before it.
"""

import resource
import shutil
import signal
import traceback
from importlib import import_module
from pathlib import Path
from random import Random
from time import process_time
from types import FrameType

from rltop.models.settings import Settings
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Format, Unreadable
from rltop.monitor.state import RunState
from rltop.monitor.target import TargetError, open_target, probe

from .mutate import mutated
from .samples import samples

LONGEST_S = 2.0
HANGING_S = 20
MOST_GROWN_MB = 200.0
MOST_POLLS = 1000
LATER = 4e9
"""When the file is looked at again: by then nobody writes to it any more."""
WHOLE_PATH_EVERY = 10
"""Every so many inputs are recognised among all formats, and priced."""


class Hang(BaseException):
    """It takes so long that it may never end. No ordinary exception, as those may be caught on the way."""


class Trial:
    """The trials of one format."""

    def __init__(self, entry: str, folder: Path) -> None:
        module, _, attribute = entry.partition(":")
        self.failed = 0
        self.slowest_s, self.slowest = 0.0, 0
        self.grown_mb = 0.0
        self._format: Format = getattr(import_module(module, "rltop.monitor.sources"), attribute)
        self._entry = entry
        self._samples = samples()[entry]
        self._others = [data for group in samples().values() for sample in group for data in sample.values()]
        self._folder = folder
        self._book = Book.load()
        self._input: Path | None = None

    def run(self, number: int) -> str | None:
        """Try the input of this number; what was wrong, or None."""
        rng = Random(f"{self._entry} {number}")
        target = self._write(rng)
        before_mb, began = _most_mb(), process_time()
        failure = self._caught(target, whole=number % WHOLE_PATH_EVERY == 0)
        took, grown = process_time() - began, _most_mb() - before_mb
        self.slowest_s, self.slowest = max((self.slowest_s, self.slowest), (took, number))
        self.grown_mb = max(self.grown_mb, grown)
        if failure is None and took > LONGEST_S:
            failure = f"{took:.1f} s of CPU"
        if failure is None and grown > MOST_GROWN_MB:
            failure = f"{grown:.0f} MB"
        self.failed += failure is not None
        return failure

    def steps_unbroken(self) -> int:
        """The fewest steps that any of the samples has as it is."""
        fewest: list[int] = []
        for which, sample in enumerate(self._samples):
            folder = self._folder / f"whole-{which}"
            for name, data in sample.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            target = folder if len(sample) > 1 else folder / next(iter(sample))
            fewest.append(len(self._read(target).history))
        return min(fewest)

    def keep(self, place: Path) -> None:
        """Copy the last input there."""
        place.parent.mkdir(parents=True, exist_ok=True)
        if self._input is not None and self._input.is_dir():
            shutil.copytree(self._input, place, dirs_exist_ok=True)
        elif self._input is not None:
            shutil.copy(self._input, place)

    def _write(self, rng: Random) -> Path:
        """A broken copy of one of the samples; of one with several files, some are broken."""
        which = rng.randrange(len(self._samples))
        sample = self._samples[which]
        folder = self._folder / str(which)
        broken = rng.sample(sorted(sample), rng.randint(1, len(sample)))
        for name, data in sample.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(mutated(data, self._others, rng) if name in broken else data)
        self._input = folder if len(sample) > 1 else folder / next(iter(sample))
        return self._input

    def _caught(self, target: Path, whole: bool) -> str | None:
        def give_up(_signal: int, _frame: FrameType | None) -> None:
            raise Hang

        signal.signal(signal.SIGALRM, give_up)
        signal.alarm(HANGING_S)
        try:
            self._read(target)
            if whole:
                self._price(target)
        except Hang:
            return f"more than {HANGING_S} s"
        except Exception as error:  # noqa: BLE001  finding them is what this is for
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            return f"{type(error).__name__}: {str(error)[:120]!r} in {place}"
        finally:
            signal.alarm(0)
        return None

    def _read(self, target: Path) -> RunState:
        try:
            score = self._format.score(probe(target))
            assert 0 <= score <= 1, f"a score of {score}"
        except Unreadable:
            pass  # a damaged database: the user is told so
        state = RunState()
        for source in self._format.open(target):
            for now in (0.0, LATER):
                for _ in range(MOST_POLLS):
                    for event in source.poll(now):
                        state = reduce(state, event)
                    if not source.more:
                        break
                else:
                    raise AssertionError("it always says that there is more")
            for event in source.close():
                state = reduce(state, event)
        return state

    def _price(self, target: Path) -> None:
        """The whole path, with whichever format takes the input for its own."""
        try:
            sources = open_target(target)
        except TargetError:
            return
        pipeline = Pipeline(Settings(usd_per_gpu_hour=2.0, budget_usd=100.0), self._book)
        for source in sources:
            for event in source.poll(LATER):
                pipeline.feed(event, LATER)
            for event in source.close():
                pipeline.feed(event, LATER)
        pipeline.close(LATER)
        pipeline.frame(LATER)


def _most_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
