"""What is learnt of a run from its steps: all of a projector but its plan.

Its one rule: a step is learnt from once, in order, and everything learnt is plain numbers. Only the
first five steps are kept and learnt again as each of the others comes, since which of them was a
pause is not clear before there are a few.
"""

from dataclasses import dataclass, field
from math import ceil
from statistics import median

from ...models.money import StepCost
from ...models.projection import Plan
from .cadence import Cadence
from .cap import StepCeiling
from .eta import PauseFilter
from .series import Series

OPENING = 5
_STRIDES = 9
_LEAST, _MOST = 1e-12, 1e15


@dataclass(slots=True)
class Memory:
    """A run so far."""

    opening: list[StepCost] = field(default_factory=list[StepCost])
    """The first few steps, as they were told."""
    usd: Series = field(default_factory=Series)
    seconds: Series = field(default_factory=Series)
    length: Series = field(default_factory=Series)
    evals: Cadence = field(default_factory=Cadence)
    checkpoints: Cadence = field(default_factory=Cadence)
    pauses: PauseFilter = field(default_factory=PauseFilter)
    ceiling: StepCeiling = field(default_factory=StepCeiling)
    last_step: int | None = None
    last_length: float | None = None
    strides: list[int] = field(default_factory=list[int])
    """Gaps between the numbers of the newest steps: a log may tell every tenth."""
    length_over_cap: bool = False
    """Lengths count what the cap does not (tool output): then the cap bounds nothing."""
    free_steps: int = 0
    """Steps that cost nothing: all of them where nothing is paid for."""

    def after(self, cost: StepCost, plan: Plan) -> "Memory":
        """This memory, or one made anew from the opening, with one more step learnt."""
        if len(self.opening) == OPENING:
            self._learn(cost, plan)
            return self
        opening = [*self.opening, cost]
        anew = Memory(opening=opening, pauses=PauseFilter.over(each.duration_s for each in opening))
        for each in opening:
            anew._learn(each, plan)
        return anew

    # The steps to come

    @property
    def stride(self) -> int:
        """Steps from one row of the log to the next."""
        return max(1, round(median(self.strides))) if self.strides else 1

    def rows_left(self, plan: Plan) -> int | None:
        """Steps that the log has still to tell; None when the total is unknown."""
        last = plan.last_step
        if last is None:
            return None
        if self.last_step is None:
            return last - plan.first_step + 1
        return max(0, ceil((last - self.last_step) / self.stride))

    # The bounds of one step

    def length_cap(self, plan: Plan) -> float | None:
        """Tokens; None where no cap binds."""
        return None if self.length_over_cap else plan.max_tokens

    def usd_cap(self, at_least: float) -> float | None:
        """Dollars of an ordinary step at the token cap; None where that is unknown."""
        ceiling = None if self.length_over_cap else self.ceiling.usd()
        return None if ceiling is None else max(ceiling, at_least)

    def seconds_cap(self, usd_per_hour: float | None) -> float | None:
        """The longest that an ordinary step can take, where its dollars are its time."""
        usd = self.usd_cap(0.0)
        if usd is None or not usd_per_hour:
            return None
        return max(usd * 3600 / usd_per_hour, self.seconds.past.mean_of_last(1.0))

    # Learning

    def _learn(self, cost: StepCost, plan: Plan) -> None:
        if not cost.repeated:
            if self.last_step is not None and cost.step > self.last_step:
                self.strides = [*self.strides, cost.step - self.last_step][-_STRIDES:]
            self.last_step = cost.step if self.last_step is None else max(self.last_step, cost.step)
        left = self.rows_left(plan)
        length, duration, usd = known(cost.response_length), known(cost.duration_s), known(cost.usd)
        work = self.pauses.work_share(duration) if duration else 1.0
        if length:
            self.last_length = length
            self.length_over_cap |= plan.max_tokens is not None and length > plan.max_tokens
            self.length.observe(length, left, self.length_cap(plan))
        if duration:
            self.seconds.observe(duration * work, left, None)
            if length:
                self.ceiling.power.observe(length, duration * work)
        if usd:
            self._learn_usd(usd, known(cost.usd_at_cap), work, left, by_time=plan.usd_per_hour is not None)
        self.free_steps += cost.usd == 0
        if cost.eval_usd is not None or cost.eval_s is not None:
            self.evals.observe(cost.step, known(cost.eval_usd), known(cost.eval_s), self.last_length)
        if cost.checkpoint_usd is not None or cost.checkpoint_s is not None:
            self.checkpoints.observe(cost.step, known(cost.checkpoint_usd), known(cost.checkpoint_s), None)

    def _learn_usd(
        self, usd: float, usd_at_cap: float | None, work: float, left: int | None, *, by_time: bool
    ) -> None:
        if by_time:
            usd *= work
        if usd_at_cap is not None and by_time:
            self.ceiling.observe_time(usd, max(usd, usd_at_cap * work))
        elif usd_at_cap is not None:
            self.ceiling.observe_tokens(max(usd, usd_at_cap))
        self.usd.observe(usd, left, self.usd_cap(usd))


def known(value: float | None) -> float | None:
    """None for what is unknown or nothing, and for what no dollars, seconds or tokens of a step can be."""
    return value if value is not None and _LEAST < value < _MOST else None
