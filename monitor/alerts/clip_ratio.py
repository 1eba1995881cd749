"""Responses cut at the token cap: they are paid for in full and often scored as wrong.

Only a figure that the source vouches for is read. EWMA(0.4) against an absolute limit and against
the run's own start: max(limit, median of the first 10 steps + rise); 3 of 4 steps to warn, 2 of 3
for critical, clear below 0.7 of the limit.
"""

from dataclasses import dataclass

from ...models.text import percent, tokens, usd
from ..moment import Moment
from .baseline import Baseline
from .rule import FINE, Debounce, Reading, Rule, Unwatched
from .stakes import advise


@dataclass(frozen=True, slots=True)
class Limits:
    """Shares from 0 to 1."""

    warn: float = 0.10
    critical: float = 0.25
    rise: float = 0.08
    """Above the start of the run."""
    base_steps: int = 10
    clear: float = 0.7
    """Of the limit."""


def observe(memory: Baseline, moment: Moment, limits: Limits) -> tuple[Baseline, Reading | Unwatched]:
    """One closed step."""
    if moment.state.clip_reliable is False:
        return memory, Unwatched(moment.state.clip_why or "the log's clip ratio cannot be trusted")
    clip = moment.get("clip_ratio")
    if clip is None:
        return memory, Unwatched("no clip ratio in this log")
    memory = memory.add(clip, limits.base_steps)
    now, usual = memory.now or 0.0, memory.usual or 0.0
    warn, critical = max(limits.warn, usual + limits.rise), max(limits.critical, usual + limits.rise)
    good = now < limits.clear * warn
    if now < warn and now < limits.critical:
        return memory, Reading(good=good, value=now, threshold=warn) if not good else FINE
    cap = moment.info.max_tokens
    where = f"cut at {tokens(cap)}" if cap else "cut at the token cap"
    if now < warn:
        # As it has been from the first step on: perhaps meant, so it is told and not warned of.
        level, threshold, when = "info", limits.critical, ", from the start"
    else:
        level, threshold = ("critical", critical) if now >= critical else ("warning", warn)
        when = ""
    return memory, Reading(
        level=level,
        good=good,
        value=now,
        threshold=threshold,
        message=f"clip ratio {percent(clip)} of responses {where}{when}",
        advice=advise("raise the cap or add a length term", _paid(moment, clip)),
    )


def _paid(moment: Moment, clip: float) -> str:
    """What one step pays for responses that were cut, by their share of the tokens."""
    cost, length, cap = moment.cost, moment.get("response_length_mean"), moment.info.max_tokens
    if cost is None or cost.usd is None or not length or not cap or clip * cap > length:
        return ""
    return f"cut responses take {usd(clip * cap / length * cost.usd)} a step"


RULE = Rule(
    name="clip_ratio",
    about="responses cut at the token cap",
    limits=Limits(),
    memory=Baseline(),
    severities=("info", "warning", "critical"),
    debounce=Debounce(warning=(3, 4), critical=(2, 3)),
    observe=observe,
)
