"""From what each step cost to what the run will have cost, and how long it will take.

Its one rule: ordinary steps, evaluations and checkpoints are projected apart and added to what is
already spent; nothing that was spent is projected again.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from ...models.money import StepCost
from ...models.projection import FanPoint, FinalCost, Plan, Projection
from ...models.value import Quantiles
from .interval import Spread
from .memory import Memory
from .prior import expected
from .series import WARM_UP

FAN_POINTS = 48
FROM_PRIOR = "before the third step: from prices, groups and lengths as configured, without evaluations"
_SHORT_BATCH = 0.9
"""The part of the last step that P10 leaves out where the last batch may be short: it is as likely to be
any part of a whole one."""


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
        self._seen = self._seen.after(cost, self._plan)

    def project(
        self,
        *,
        spent_usd: float | None,
        budget_usd: float | None,
        since_last_step_s: float | None = None,
        dollars_only: bool = False,
        prior: Quantiles | None = None,
    ) -> Projection:
        """The rest of the run, seen from its last step.

        `spent_usd` is all that was paid so far, `since_last_step_s` the wall seconds since the last
        step closed. `dollars_only`, for after every step, leaves out what only a screen wants: time,
        length, and the path to the end at up to 48 steps. `prior` is what one of the first steps is expected
        to cost, dollars; it is asked until three have been seen. Nothing here depends on what time it is.
        """
        seen, left = self._seen, self._seen.rows_left(self._plan)
        if left == 0:
            return self.finished(spent_usd, budget_usd)
        why_not = None
        if left is None:
            why_not = "total steps unknown: give --total-steps N"
        elif not (seen.length.ready or seen.seconds.ready or self._has_usd):
            why_not = f"warming up: the projection needs {WARM_UP} steps"
        if left is None or why_not is not None:
            over = 1.0 if _broken(spent_usd, budget_usd) else None
            guess = self._beforehand(left, spent_usd, prior)
            return Projection(
                final_usd=guess,
                prior=guess is not None,
                budget_usd=budget_usd,
                p_over_budget=over,
                notes=(why_not or "",) if guess is None else (FROM_PRIOR,),
            )
        spread = self._usd_spread(left, spent_usd)
        final = over = breaks = None
        if spread is not None and spent_usd is not None:
            final = FinalCost(p10=spread.p10, p50=spread.p50, p90=spread.p90, at_cap=spread.ceiling)
        if budget_usd is not None and spent_usd is not None:
            over = self._over(left, spent_usd, budget_usd)
            if spread is not None and spread.p50 > budget_usd:
                breaks = self._breaks_at(left, spent_usd, budget_usd)
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

    def _notes(self, costless: bool) -> Iterator[str]:
        if costless:
            yield "no cost yet to project from"
        planned, evals = self._plan.eval_every, self._seen.evals
        if evals.contradicts(planned):
            yield f"evaluations come every {evals.usual_gap} steps, not every {planned} as configured"

    # What comes besides ordinary steps

    def _to_come(self, rows: int) -> tuple[int, int]:
        """Evaluations and checkpoints over the next `rows` rows."""
        seen, plan, last = self._seen, self._plan, self._seen.last_step
        if last is None:
            return 0, 0
        until = last + rows * seen.stride
        at_end = bool(plan.eval_at_end) and until >= (plan.last_step or until)
        evals = seen.evals.to_come(last, until, plan.eval_every, at_end)
        return evals, seen.checkpoints.to_come(last, until, plan.save_every, None)

    def _extras_usd(self, rows: int, length: float | None) -> float:
        """Dollars of evaluations, with responses of this length, and of checkpoints."""
        evals, saves = self._to_come(rows)
        each_eval = (self._seen.evals.unit_usd() or 0.0) * (length or 1.0)
        return evals * each_eval + saves * (self._seen.checkpoints.unit_usd() or 0.0)

    def _extras_s(self, rows: int) -> float:
        """Seconds of the same, with responses as long as the last ones."""
        evals, saves = self._to_come(rows)
        each_eval = (self._seen.evals.unit_seconds() or 0.0) * (self._seen.last_length or 1.0)
        return evals * each_eval + saves * (self._seen.checkpoints.unit_seconds() or 0.0)

    def _may_be_missing(self, rows: int) -> float:
        """The part of the last step that may never come: a data set's last batch is what is left of it."""
        reaches_the_end = rows == self._seen.rows_left(self._plan)
        return _SHORT_BATCH if self._plan.last_batch_may_be_short and reaches_the_end else 0.0

    # Dollars

    @property
    def _has_usd(self) -> bool:
        return self._seen.usd.ready or self._is_free

    @property
    def _is_free(self) -> bool:
        """Whether every step so far cost nothing: a price of 0, not an unknown one."""
        return self._seen.usd.steps == 0 and self._seen.free_steps >= WARM_UP

    def _usd_cap(self) -> float | None:
        return self._seen.usd_cap(self._seen.usd.past.mean_of_last(1.0))

    def _beforehand(
        self, left: int | None, spent_usd: float | None, prior: Quantiles | None
    ) -> FinalCost | None:
        """The final cost while only the configuration, and a step or two, can tell."""
        seen = self._seen
        if left is None or prior is None or self._seen.free_steps:
            return None
        each = expected(prior, seen.usd.steps, seen.usd.past.mean_of_last(1.0) if seen.usd.steps else 0.0)
        spent = spent_usd or 0.0
        p10, p50, p90 = (spent + left * usd for usd in (each.p10, each.p50, each.p90))
        return FinalCost(p10=p10, p50=p50, p90=p90)

    def _usd_spread(self, rows: int, spent_usd: float | None) -> Spread | None:
        """All dollars by `rows` steps from now."""
        seen = self._seen
        if spent_usd is None or not self._has_usd:
            return None
        sure = spent_usd + self._extras_usd(rows, seen.last_length)
        if self._is_free:
            return Spread(sure, sure, sure, sure)
        cap = self._usd_cap()
        each = seen.usd.ahead(rows, cap)
        p10, p50, p90 = (sure + rows * usd for usd in (each.p10, each.p50, each.p90))
        p10 -= each.p10 * self._may_be_missing(rows)
        if cap is None:
            return Spread(p10, p50, p90)
        longest = max(seen.length_cap(self._plan) or 0.0, seen.last_length or 0.0) or None
        return Spread(p10, p50, p90, spent_usd + self._extras_usd(rows, longest) + rows * cap)

    def _over(self, rows: int, spent_usd: float, budget_usd: float) -> float | None:
        """The probability that the run costs more than the budget."""
        if spent_usd > budget_usd:
            return 1.0
        if not self._has_usd:
            return None
        room = budget_usd - spent_usd - self._extras_usd(rows, self._seen.last_length)
        if self._is_free:
            return float(room < 0)
        return self._seen.usd.ahead(rows, self._usd_cap()).above(room / rows)

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
        return last + high * self._seen.stride

    # Time and length

    def _remaining_s(self, rows: int, since_last_step_s: float | None) -> Quantiles | None:
        seen = self._seen
        if not seen.seconds.ready:
            return None
        each = seen.seconds.ahead(rows, seen.seconds_cap(self._plan.usd_per_hour))
        # A step that is under way is done in part, but never more than wholly.
        sure = self._extras_s(rows) - min(since_last_step_s or 0.0, each.p50)
        least = rows - self._may_be_missing(rows)
        ranges = ((least, each.p10), (rows, each.p50), (rows, each.p90))
        p10, p50, p90 = (max(0.0, steps * seconds + sure) for steps, seconds in ranges)
        return Quantiles(p10=p10, p50=p50, p90=p90)

    def _length_at(self, rows: int) -> Quantiles | None:
        if not self._seen.length.ready:
            return None
        at = self._seen.length.at(rows, self._seen.length_cap(self._plan))
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
            step = last + rows * self._seen.stride
            points.append(FanPoint(step=step, cost=cost, length=self._length_at(rows)))
        return points


def _stops(left: int) -> list[int]:
    """At most 48 of the steps to come, evenly spaced, the last one among them."""
    count = min(left, FAN_POINTS)
    return [round(left * part / count) for part in range(1, count + 1)]


def _broken(spent_usd: float | None, budget_usd: float | None) -> bool:
    """Whether more than the budget is spent already."""
    return spent_usd is not None and budget_usd is not None and spent_usd > budget_usd


@cache
def _memory_type() -> TypeAdapter[Memory]:
    return TypeAdapter(Memory)
