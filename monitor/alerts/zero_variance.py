"""Groups whose rollouts all got the same reward: they are paid for and teach nothing (GRPO's advantage is 0).

EWMA(0.4) of their share, 3 of 4 steps. Near the end of an easy task most groups are solved by all, so
it is told rather than warned of while the reward is at its best.
"""

from dataclasses import dataclass

from ...models.text import percent, usd
from ..moment import Moment
from .baseline import Baseline
from .rule import FINE, Debounce, Reading, Rule, Unwatched
from .stakes import advise


@dataclass(frozen=True, slots=True)
class Limits:
    """Shares from 0 to 1."""

    told: float = 0.8
    clear: float = 0.7
    warn: float = 0.95
    """Only where the groups fail: solved ones are no reason to worry."""
    failing: float = 0.05
    """A mean reward from 0 up to this means that the groups fail."""


def observe(memory: Baseline, moment: Moment, limits: Limits) -> tuple[Baseline, Reading | Unwatched]:
    """One closed step."""
    share = moment.get("zero_variance_groups")
    if share is None:
        return memory, Unwatched("no share of groups without variance in this log")
    memory = memory.add(share, 1)
    now = memory.now or 0.0
    if now < limits.told:
        return memory, FINE if now < limits.clear else Reading(value=now, threshold=limits.told)
    reward = moment.get("reward_mean")
    failing = reward is not None and 0 <= reward <= limits.failing
    usd_step = moment.cost.usd if moment.cost is not None else None
    wasted = f"{usd(share * usd_step)} of a step buys no gradient" if usd_step is not None else ""
    return memory, Reading(
        level="warning" if failing and now >= limits.warn else "info",
        value=now,
        threshold=limits.warn if failing and now >= limits.warn else limits.told,
        message=f"{percent(now)} of groups have one reward for all",
        advice=advise(wasted, f"{'easier' if failing else 'harder'} prompts, or filter such groups out"),
    )


RULE = Rule(
    name="zero_variance",
    about="groups whose rollouts all got the same reward",
    limits=Limits(),
    memory=Baseline(),
    severities=("info", "warning"),
    debounce=Debounce(warning=(3, 4)),
    observe=observe,
)
