"""What the closed steps of a run come to in dollars: paid, and expected at the end, step by step.

Its one rule: what a step costs is counted for every one. A bill, which is much dearer to make, is made when
it is asked for, and a forecast, in a long run, not after each step.
"""

from array import array

from ..models.money import Bill, StepCost
from ..models.projection import Plan, Projection
from .column import NAN
from .history import Row
from .money.ledger import Ledger
from .money.pricing import Pricing
from .projection.projector import Projector
from .state import RunState
from .timing import Timekeeper

DENSE_ROWS = 500
"""So many rows have a forecast each. Of n rows beyond, every (n / 500)th has: as many as a chart shows."""


class Account:
    """The money of one run. Observe every closed row once, in order; a row's evaluations before it.

    The arrays have one cell for each row observed, and only grow; NaN where unknown.
    """

    def __init__(self, pricing: Pricing, plan: Plan, budget_usd: float | None) -> None:
        self.ledger = Ledger(pricing)
        self.projector = Projector(plan)
        self.plan = plan
        self.step_usd = array("d")
        """Dollars of each row, with its evaluations and checkpoints."""
        self.spent_usd = array("d")
        """Their sums."""
        self.at_end, self.at_end_low, self.at_end_high = array("d"), array("d"), array("d")
        """P50, P10 and P90 of the final dollars, by the newest forecast."""
        self._budget_usd = budget_usd
        self._timekeeper = Timekeeper()
        self._evals = 0
        self._spent = 0.0
        self._state = RunState()
        self._bill: Bill | None = None
        self.projection = Projection()
        """The newest forecast, of dollars alone."""

    def replan(self, plan: Plan) -> None:
        """Go on with another plan: the total or the cap has been learnt late."""
        self.plan = plan
        self.projector.replan(plan)

    def count_evals(self, state: RunState) -> None:
        """Take in evaluations that have come; they are told before their step, or after the last one."""
        evals = state.history.evals
        for index in range(self._evals, len(evals)):
            self.ledger.add_eval(evals[index])
        self._evals = len(evals)

    def observe(self, row: Row, state: RunState) -> StepCost:
        """Take in a row of `state` that has closed."""
        self.count_evals(state)
        self._timekeeper.add_row(row)
        cost = self.ledger.add_step(row)
        self.projector.observe(cost)
        self._state, self._bill = state, None
        if row.index % max(1, row.index // DENSE_ROWS) == 0:
            self.projection = self.projector.project(
                spent_usd=self.paid_usd, budget_usd=self._budget_usd, dollars_only=True
            )
        self._keep(cost)
        return cost

    @property
    def paid_usd(self) -> float | None:
        """What had been spent when the newest row closed."""
        if self._bill is not None:
            return self._bill.spent_usd
        return self.ledger.spent_usd(self._state, self.elapsed_s(self._state, None))

    @property
    def bill(self) -> Bill:
        """The bill when the newest row closed."""
        if self._bill is None:
            self._bill = self.bill_of(self._state, self.elapsed_s(self._state, None))
        return self._bill

    def bill_of(self, state: RunState, elapsed_s: float | None) -> Bill:
        """The bill `elapsed_s` wall seconds after the run began."""
        bill = self.ledger.bill(state, elapsed_s)
        note = self._timekeeper.note if bill.basis == "gpu-hours" else None
        return bill.model_copy(update={"notes": (*bill.notes, note)}) if note else bill

    def elapsed_s(self, state: RunState, since_last_step_s: float | None) -> float | None:
        """Wall seconds of the run, `since_last_step_s` after its newest row."""
        return self._timekeeper.elapsed_s(state.shown_s, since_last_step_s)

    def _keep(self, cost: StepCost) -> None:
        usd = None
        if cost.usd is not None:
            usd = cost.usd + (cost.eval_usd or 0.0) + (cost.checkpoint_usd or 0.0)
        self._spent += usd or 0.0
        self.step_usd.append(NAN if usd is None else usd)
        self.spent_usd.append(NAN if usd is None else self._spent)
        final = self.projection.final_usd
        self.at_end.append(final.p50 if final else NAN)
        self.at_end_low.append(final.p10 if final else NAN)
        self.at_end_high.append(final.p90 if final else NAN)
