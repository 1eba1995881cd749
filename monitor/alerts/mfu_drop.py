"""Throughput that falls: the same hour buys less training. Whole-step MFU, else tokens per second.

EWMA(0.4) below `warn` times the median of steps 3 to 12 (the first two warm up); 2 of 3 steps, and only
while steps are slower than they were then: shorter responses fill a GPU less, and cost nothing.
Zero and infinity are what frameworks log for "unknown", so they count as missing.
"""

import math
import statistics
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ...models.text import percent
from ..moment import Moment
from .baseline import Baseline
from .rule import FINE, Debounce, Reading, Rule, Unwatched, learning
from .stakes import advise, at_this_rate, extra_usd

Signal = Literal["mfu_whole_step", "tokens_per_s"]
_CALLED: dict[Signal, str] = {"mfu_whole_step": "MFU", "tokens_per_s": "throughput"}


@dataclass(frozen=True, slots=True)
class Limits:
    """Ratios to the usual level."""

    warn: float = 0.73
    critical: float = 0.45
    clear: float = 0.87
    slower: float = 1.15
    """Step time against the usual one, from which on a fall of throughput matters."""
    skip_steps: int = 2
    base_steps: int = 10


class Memory(NamedTuple):
    """The series that this run has, and its baseline; `costs` in dollars a step."""

    signal: Signal | None = None
    series: Baseline = Baseline()
    work_s: Baseline = Baseline()
    """Seconds of a step without its evaluation and checkpoint."""
    first_step: int = 0
    costs: tuple[float, ...] = ()


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    # A run is judged by one series throughout: the two are not in the same unit.
    signal: Signal | None = memory.signal or _signal(moment)
    x = measured(moment, signal) if signal is not None else None
    if signal is None or x is None:
        return memory, Unwatched("neither MFU nor throughput in this log")
    seconds = measured(moment, "duration_s")
    work_s = _work_s(moment, seconds)
    if signal == "tokens_per_s" and seconds is not None and work_s is not None:
        # Over the whole step by its definition: a step with an evaluation in it would look slow.
        x *= seconds / work_s
    if memory.signal is None and moment.row is not None:
        memory = memory._replace(signal=signal, first_step=moment.row.step)
    series = memory.series.add(x, limits.base_steps, limits.skip_steps)
    if work_s is not None:
        timed = memory.work_s.add(work_s, limits.base_steps, limits.skip_steps)
        memory = memory._replace(work_s=timed)
    usd = moment.cost.usd if moment.cost is not None else None
    learnt = memory.series.seen - limits.skip_steps
    if learnt < limits.base_steps:
        costs = memory.costs if usd is None else (*memory.costs, usd)
        wanted = limits.base_steps + limits.skip_steps
        return memory._replace(series=series, costs=costs), learning(series.seen, wanted)
    memory = memory._replace(series=series)
    share = (series.now or 0.0) / (series.usual or 1.0)
    good = share > limits.clear
    if share >= limits.warn or not _slower(memory.work_s, limits):
        return memory, FINE if good else Reading(value=share, threshold=limits.warn)
    critical = share < limits.critical
    first = memory.first_step + limits.skip_steps
    return memory, Reading(
        level="critical" if critical else "warning",
        good=good,
        value=share,
        threshold=limits.critical if critical else limits.warn,
        message=f"{_CALLED[signal]} down {percent(1 - share)} "
        f"from steps {first}–{first + limits.base_steps - 1}",
        advice=_advice(memory, moment),
    )


def measured(moment: Moment, name: str) -> float | None:
    """A quantity of this step that cannot be zero or infinite when it was really measured."""
    x = moment.get(name)
    return x if x is not None and x > 0 and math.isfinite(x) else None


def _work_s(moment: Moment, seconds: float | None) -> float | None:
    if seconds is None or moment.row is None:
        return None
    rest = seconds - (moment.row.phase("eval") or 0.0) - (moment.row.phase("checkpoint") or 0.0)
    return rest if rest > 0 else None


def _slower(work_s: Baseline, limits: Limits) -> bool:
    """Whether steps take longer than they did; True where it is not known."""
    if work_s.now is None or work_s.usual is None:
        return True
    return work_s.now > limits.slower * work_s.usual


def _signal(moment: Moment) -> Signal | None:
    for signal in _CALLED:
        if measured(moment, signal) is not None:
            return signal
    return None


def _advice(memory: Memory, moment: Moment) -> str:
    # Tokens cost the same however slowly they come; hours do not.
    by_the_hour = moment.bill.basis == "gpu-hours" and memory.costs
    extra = extra_usd(moment, statistics.median(memory.costs)) if by_the_hour else None
    return advise(at_this_rate(extra), "see which phase of the step has grown")


RULE = Rule(
    name="mfu_drop",
    about="MFU or throughput that falls below its usual level",
    limits=Limits(),
    memory=Memory(),
    debounce=Debounce(warning=(2, 3), critical=(3, 4)),
    observe=observe,
)
