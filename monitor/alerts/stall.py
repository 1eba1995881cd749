"""No step for longer than this run has ever needed: it hangs, or its machine is gone.

Deadline: max(floor, factor × max(95th percentile of the last 50 steps, median of the last 5)), and
30 minutes before three steps have been timed. A due evaluation or checkpoint is allowed for. The next
step clears it. A pause that is only found in a log afterwards is told, since nothing can be done about it.
"""

import statistics
from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import duration, usd
from ..moment import Moment
from .rule import FINE, Debounce, Reading, Rule, Unwatched
from .stakes import advise, step_of, wall_usd

_KEPT = 50
_TIMED = 3
_UNTIMED_S = 1800.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds."""

    floor_s: float = 120.0
    factor: float = 3.0
    critical_factor: float = 3.0
    """Deadlines that must pass for a warning to become critical."""
    silent_s: float = 86_400.0
    """A log that has been silent for longer was left rather than stalled: told as a matter of fact."""


class Memory(NamedTuple):
    """Wall seconds of the newest steps, evaluations and checkpoints apart."""

    steps_s: tuple[float, ...] = ()
    deadline_s: float = _UNTIMED_S
    aside_s: float = 0.0
    """The longest evaluation and checkpoint so far."""
    ended_at: float | None = None
    attempt: int = 0
    step: int = 0


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step: how long it took in wall time."""
    row, cost = moment.row, moment.cost
    if row is None:
        return memory, Unwatched("no step yet")
    ended_at = row.get("ended_at")
    aside_s = ((cost.eval_s or 0.0) + (cost.checkpoint_s or 0.0)) if cost is not None else 0.0
    worked_s = cost.duration_s if cost is not None else row.get("duration_s")
    gap_s = None
    # What lies between two attempts is a restart, and told as one.
    if ended_at is not None and memory.ended_at is not None and row.attempt == memory.attempt:
        gap_s = max(0.0, ended_at - memory.ended_at - aside_s)
    taken_s = max((x for x in (worked_s, gap_s) if x is not None), default=None)
    if taken_s is None:
        return memory, Unwatched("no times in this log")
    return _remember(memory, moment, limits, taken_s, aside_s), _looked_back(memory, taken_s)


def tick(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """How long it has been silent."""
    if moment.status in ("finished", "crashed"):
        return memory, FINE
    if moment.status == "unknown":
        return memory, Unwatched("it is not known whether the run goes on")
    silent_s = moment.since_last_step_s
    if silent_s is None:
        return memory, Unwatched("no times in this log")
    if silent_s > limits.silent_s:
        return memory, Reading(
            level="info",
            value=silent_s,
            threshold=limits.silent_s,
            message=f"silent for {duration(silent_s)}, and the log does not say that the run ended",
            advice="if it has ended, all is well",
        )
    # Silence only grows: an alert is cleared by the next step, never by looking again.
    if silent_s - _allowance_s(memory, moment) <= memory.deadline_s:
        return memory, None
    return memory, _silent(memory, moment, limits, silent_s)


def _looked_back(memory: Memory, taken_s: float) -> Reading:
    """A pause that is over: it clears what was raised while it lasted, and is told where nobody looked."""
    # How long the first steps take says what is usual, not that something was wrong.
    if taken_s <= memory.deadline_s or len(memory.steps_s) < _TIMED:
        return Reading(good=True, value=taken_s, threshold=memory.deadline_s)
    return Reading(
        level="info",
        good=True,
        value=taken_s,
        threshold=memory.deadline_s,
        message=f"no step for {duration(taken_s)}{_usually(memory)}",
        advice="it went on after that",
        since=memory.step,
    )


def _silent(memory: Memory, moment: Moment, limits: Limits, silent_s: float) -> Reading:
    critical = silent_s > limits.critical_factor * memory.deadline_s
    cost = wall_usd(moment, silent_s)
    return Reading(
        level="critical" if critical else "warning",
        certain=True,
        value=silent_s,
        threshold=limits.critical_factor * memory.deadline_s if critical else memory.deadline_s,
        message=f"no step for {duration(silent_s)}{_usually(memory)}",
        advice=advise(
            f"{usd(cost)} of idle time" if cost is not None else "", "see the last lines of its log"
        ),
    )


def _usually(memory: Memory) -> str:
    return f", usually {duration(statistics.median(memory.steps_s))}" if memory.steps_s else ""


def _remember(memory: Memory, moment: Moment, limits: Limits, taken_s: float, aside_s: float) -> Memory:
    steps_s = (*memory.steps_s, taken_s)[-_KEPT:]
    row = moment.row
    ended_at = row.get("ended_at") if row is not None else None
    return Memory(
        steps_s=steps_s,
        deadline_s=_deadline_s(steps_s, limits),
        aside_s=max(memory.aside_s, aside_s),
        ended_at=memory.ended_at if ended_at is None else ended_at,
        attempt=row.attempt if row is not None else memory.attempt,
        step=step_of(moment),
    )


def _deadline_s(steps_s: tuple[float, ...], limits: Limits) -> float:
    if len(steps_s) < _TIMED:
        return max(limits.floor_s, _UNTIMED_S)
    ranked = sorted(steps_s)
    at = 0.95 * (len(ranked) - 1)
    low = int(at)
    slow = ranked[low] + (at - low) * (ranked[min(low + 1, len(ranked) - 1)] - ranked[low])
    return max(limits.floor_s, limits.factor * max(slow, statistics.median(steps_s[-5:])))


def _allowance_s(memory: Memory, moment: Moment) -> float:
    """Seconds granted because an evaluation or a checkpoint may be under way."""
    done = step_of(moment)
    if not any(n and (done % n == 0 or (done + 1) % n == 0) for n in _rhythms(moment)):
        return 0.0
    # How long the first one takes is not known: as long again as a step may.
    return 1.5 * memory.aside_s if memory.aside_s else memory.deadline_s


def _rhythms(moment: Moment) -> tuple[int | None, int | None]:
    return moment.info.eval_every, moment.info.save_every


RULE = Rule(
    name="stall",
    about="no step for much longer than a step takes",
    limits=Limits(),
    memory=Memory(),
    lasting=True,
    severities=("info", "warning", "critical"),
    debounce=Debounce(clear=1, wary=False),
    observe=observe,
    tick=tick,
)
