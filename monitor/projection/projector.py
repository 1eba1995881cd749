"""From what each step cost to what the run will have cost, and how long it will take.

Its one rule: ordinary steps, evaluations and checkpoints are projected apart and added to what is
already spent; nothing that was spent is projected again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from statistics import median
from typing import Any

from pydantic import TypeAdapter

from ...models.money import StepCost
from ...models.projection import FanPoint, FinalCost, Plan, Projection
from ...models.value import Quantiles
from .cadence import Cadence
from .cap import StepCeiling
from .eta import PauseFilter
from .interval import Spread
from .series import WARM_UP, Series

FAN_POINTS = 48
_SHORT_BATCH = 0.9
"""The part of the last step that P10 leaves out where the last batch may be short: it is as likely to be
any part of a whole one."""
_STRIDES = 9
_LEAST, _MOST = 1e-12, 1e15


@dataclass(slots=True)
class Memory:
    """Everything learnt from the steps so far; all of a Projector but its plan."""

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


class Projector:
    """Projects one run. Observe every closed step once, in order; project at any time."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._seen = Memory()

    def replan(self, plan: Plan) -> None:
        """Go on with another plan: the total or the cap has been learnt late."""
        self._plan = plan

    def state(self) -> dict[str, Any]:
        """All that was learnt, as plain lists and numbers; exact."""
        return _memory_type().dump_python(self._seen)

    @classmethod
    def restore(cls, plan: Plan, state: dict[str, Any]) -> "Projector":
        """A projector that goes on exactly where another one's `state` was taken."""
        projector = cls(plan)
        projector._seen = _memory_type().validate_python(state)
        return projector

    def observe(self, cost: StepCost) -> None:
        """Learn from one closed step."""
        seen = self._seen
        if not cost.repeated:
            if seen.last_step is not None and cost.step > seen.last_step:
                seen.strides = [*seen.strides, cost.step - seen.last_step][-_STRIDES:]
            seen.last_step = cost.step if seen.last_step is None else max(seen.last_step, cost.step)
        left = self._rows_left()
        length, duration, usd = (
            _positive(cost.response_length),
            _positive(cost.duration_s),
            _positive(cost.usd),
        )
        work = seen.pauses.work_share(duration) if duration else 1.0
        if length:
            seen.last_length = length
            seen.length_over_cap |= self._plan.max_tokens is not None and length > self._plan.max_tokens
            seen.length.observe(length, left, self._length_cap())
        if duration:
            seen.seconds.observe(duration * work, left, None)
            if length:
                seen.ceiling.power.observe(length, duration * work)
        if usd:
            self._observe_usd(usd * work if self._by_time else usd, _positive(cost.usd_at_cap), work, left)
        if cost.eval_usd is not None or cost.eval_s is not None:
            seen.evals.observe(cost.step, _positive(cost.eval_usd), _positive(cost.eval_s), seen.last_length)
        if cost.checkpoint_usd is not None or cost.checkpoint_s is not None:
            seen.checkpoints.observe(
                cost.step, _positive(cost.checkpoint_usd), _positive(cost.checkpoint_s), None
            )

    def project(
        self,
        *,
        spent_usd: float | None,
        budget_usd: float | None,
        since_last_step_s: float | None = None,
        dollars_only: bool = False,
    ) -> Projection:
        """The rest of the run, seen from its last step.

        `spent_usd` is all that was paid so far, `since_last_step_s` the wall seconds since the last
        step closed. `dollars_only`, for after every step, leaves out what only a screen wants: time,
        length, and the path to the end at up to 48 steps. Nothing here depends on what time it is.
        """
        left = self._rows_left()
        if left is None:
            return Projection(budget_usd=budget_usd, notes=(self._why_unknown(),))
        if left == 0:
            return self.finished(spent_usd, budget_usd)
        if not self._seen.length.ready and not self._seen.seconds.ready and not self._seen.usd.ready:
            return Projection(
                budget_usd=budget_usd, notes=(f"warming up: the projection needs {WARM_UP} steps",)
            )
        spread = self._usd_spread(left, spent_usd)
        final = None
        over = breaks = None
        if spread is not None and spent_usd is not None:
            final = FinalCost(p10=spread.p10, p50=spread.p50, p90=spread.p90, at_cap=spread.ceiling)
            if budget_usd is not None:
                over = self._over(left, spent_usd, budget_usd)
                breaks = self._breaks_at(left, spent_usd, budget_usd) if spread.p50 > budget_usd else None
        return Projection(
            final_usd=final,
            remaining_s=None if dollars_only else self._remaining_s(left, since_last_step_s),
            response_length_at_end=None if dollars_only else self._length_at(left),
            budget_usd=budget_usd,
            p_over_budget=over,
            budget_breaks_at_step=breaks,
            fan=() if dollars_only else tuple(self._fan(left, spent_usd)),
            notes=tuple(self._notes(costless=final is None and spent_usd is not None)),
        )

    # The steps to come

    @property
    def _by_time(self) -> bool:
        return self._plan.usd_per_hour is not None

    @property
    def _stride(self) -> int:
        return max(1, round(median(self._seen.strides))) if self._seen.strides else 1

    def _rows_left(self) -> int | None:
        """Steps that the log has still to tell; None when the total is unknown."""
        last = self._plan.last_step
        if last is None:
            return None
        done = self._seen.last_step
        if done is None:
            return last - self._plan.first_step + 1
        return max(0, ceil((last - done) / self._stride))

    def _notes(self, costless: bool) -> Iterator[str]:
        if costless:
            yield "no cost yet to project from"
        planned, evals = self._plan.eval_every, self._seen.evals
        if evals.contradicts(planned):
            yield f"evaluations come every {evals.usual_gap} steps, not every {planned} as configured"

    def _why_unknown(self) -> str:
        return "total steps unknown: give --total-steps N"

    def _length_cap(self) -> float | None:
        return None if self._seen.length_over_cap else self._plan.max_tokens

    def finished(self, spent_usd: float | None, budget_usd: float | None) -> Projection:
        """A run that is over ends at what it has cost, wherever it was meant to end."""
        length = self._seen.last_length
        spent = None
        if spent_usd is not None:
            spent = FinalCost(p10=spent_usd, p50=spent_usd, p90=spent_usd, at_cap=spent_usd)
        over = None if spent_usd is None or budget_usd is None else float(spent_usd > budget_usd)
        return Projection(
            final_usd=spent,
            remaining_s=Quantiles(p10=0, p50=0, p90=0),
            response_length_at_end=Quantiles(p10=length, p50=length, p90=length) if length else None,
            budget_usd=budget_usd,
            p_over_budget=over,
        )

    # Dollars

    def _observe_usd(self, usd: float, usd_at_cap: float | None, work: float, left: int | None) -> None:
        seen = self._seen
        if usd_at_cap is not None and self._by_time:
            seen.ceiling.observe_time(usd, max(usd, usd_at_cap * work))
        elif usd_at_cap is not None:
            seen.ceiling.observe_tokens(max(usd, usd_at_cap))
        seen.usd.observe(usd, left, self._usd_cap(usd))

    def _usd_cap(self, at_least: float) -> float | None:
        ceiling = None if self._seen.length_over_cap else self._seen.ceiling.usd()
        return None if ceiling is None else max(ceiling, at_least)

    def _extras_usd(self, rows: int, length: float | None) -> float:
        """Evaluations and checkpoints over the next `rows` steps, with responses of this length."""
        seen, plan, last = self._seen, self._plan, self._seen.last_step
        if last is None:
            return 0.0
        until = last + rows * self._stride
        at_end = bool(plan.eval_at_end) and until >= (plan.last_step or until)
        evals = seen.evals.to_come(last, until, plan.eval_every, at_end)
        saves = seen.checkpoints.to_come(last, until, plan.save_every, None)
        each_eval = (seen.evals.unit_usd() or 0.0) * (length or 1.0)
        return evals * each_eval + saves * (seen.checkpoints.unit_usd() or 0.0)

    def _usd_spread(self, rows: int, spent_usd: float | None) -> Spread | None:
        """All dollars by `rows` steps from now."""
        seen = self._seen
        if spent_usd is None or not seen.usd.ready:
            return None
        cap = self._usd_cap(seen.usd.past.mean_of_last(1.0))
        each = seen.usd.ahead(rows, cap)
        sure = spent_usd + self._extras_usd(rows, seen.last_length)
        p10, p50, p90 = (sure + rows * usd for usd in (each.p10, each.p50, each.p90))
        p10 -= each.p10 * self._may_be_missing(rows)
        if cap is None:
            return Spread(p10, p50, p90)
        longest = max(self._length_cap() or 0.0, seen.last_length or 0.0) or None
        return Spread(p10, p50, p90, spent_usd + self._extras_usd(rows, longest) + rows * cap)

    def _may_be_missing(self, rows: int) -> float:
        """The part of the last step that may never come: a data set's last batch is what is left of it."""
        reaches_the_end = rows == self._rows_left()
        return _SHORT_BATCH if self._plan.last_batch_may_be_short and reaches_the_end else 0.0

    def _over(self, rows: int, spent_usd: float, budget_usd: float) -> float:
        """The probability that the run costs more than the budget."""
        if spent_usd > budget_usd:
            return 1.0
        cap = self._usd_cap(self._seen.usd.past.mean_of_last(1.0))
        room = (budget_usd - spent_usd - self._extras_usd(rows, self._seen.last_length)) / rows
        return self._seen.usd.ahead(rows, cap).above(room)

    def _breaks_at(self, left: int, spent_usd: float, budget_usd: float) -> int | None:
        """The first step by whose end more than the budget is expected to be spent."""
        last = self._seen.last_step
        if last is None:
            return None
        if spent_usd > budget_usd:
            return last
        low, high = 0, left
        while high - low > 1:
            rows = (low + high) // 2
            spread = self._usd_spread(rows, spent_usd)
            if spread is not None and spread.p50 > budget_usd:
                high = rows
            else:
                low = rows
        return last + high * self._stride

    # Time and length

    def _remaining_s(self, rows: int, since_last_step_s: float | None) -> Quantiles | None:
        seen, plan, last = self._seen, self._plan, self._seen.last_step
        if not seen.seconds.ready or last is None:
            return None
        each = seen.seconds.ahead(rows, self._seconds_cap())
        until = last + rows * self._stride
        evals = seen.evals.to_come(last, until, plan.eval_every, plan.eval_at_end)
        saves = seen.checkpoints.to_come(last, until, plan.save_every, None)
        extra = evals * (seen.evals.unit_seconds() or 0.0) * (seen.last_length or 1.0)
        extra += saves * (seen.checkpoints.unit_seconds() or 0.0)
        # A step that is under way is done in part, but never more than wholly.
        begun = min(since_last_step_s or 0.0, each.p50)
        least = rows - self._may_be_missing(rows)
        ranges = ((least, each.p10), (rows, each.p50), (rows, each.p90))
        p10, p50, p90 = (max(0.0, steps * s + extra - begun) for steps, s in ranges)
        return Quantiles(p10=p10, p50=p50, p90=p90)

    def _seconds_cap(self) -> float | None:
        """The longest that an ordinary step can take, where its dollars are its time."""
        usd, per_hour = self._usd_cap(0.0), self._plan.usd_per_hour
        if usd is None or not per_hour:
            return None
        return max(usd * 3600 / per_hour, self._seen.seconds.past.mean_of_last(1.0))

    def _length_at(self, rows: int) -> Quantiles | None:
        if not self._seen.length.ready:
            return None
        at = self._seen.length.at(rows, self._length_cap())
        return Quantiles(p10=at.p10, p50=at.p50, p90=at.p90)

    def _fan(self, left: int, spent_usd: float | None) -> list[FanPoint]:
        """The path to the end. A cumulative sum cannot fall, so neither may its quantiles."""
        last = self._seen.last_step or 0
        points: list[FanPoint] = []
        low = middle = high = spent_usd or 0.0
        for rows in _stops(left):
            spread, cost = self._usd_spread(rows, spent_usd), None
            if spread is not None:
                low, middle, high = max(low, spread.p10), max(middle, spread.p50), max(high, spread.p90)
                cost = Quantiles(p10=low, p50=middle, p90=high)
            step = last + rows * self._stride
            points.append(FanPoint(step=step, cost=cost, length=self._length_at(rows)))
        return points


def _stops(left: int) -> list[int]:
    """At most 48 of the steps to come, evenly spaced, the last one among them."""
    count = min(left, FAN_POINTS)
    return [round(left * part / count) for part in range(1, count + 1)]


def _positive(value: float | None) -> float | None:
    """None for what is unknown or nothing, and for what no dollars, seconds or tokens of a step can be."""
    return value if value is not None and _LEAST < value < _MOST else None


@cache
def _memory_type() -> TypeAdapter[Memory]:
    return TypeAdapter(Memory)
