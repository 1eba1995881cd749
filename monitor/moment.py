"""All that is known at one moment, as the alert rules are given it."""

from typing import NamedTuple, Protocol

from ..models.money import Bill, StepCost, TokenPrice
from ..models.projection import Projection
from ..models.run import RunInfo, RunStatus
from ..models.settings import Settings
from .history import Row
from .state import RunState


class Money(Protocol):
    """The dollars of a run at one moment. A bill is dear to make, and may wait until a rule asks for it."""

    @property
    def paid_usd(self) -> float | None: ...
    @property
    def bill(self) -> Bill: ...
    @property
    def projection(self) -> Projection: ...


class Outlay(NamedTuple):
    """The same, where both are there already."""

    bill: Bill
    projection: Projection

    @property
    def paid_usd(self) -> float | None:
        return self.bill.spent_usd


class Moment(NamedTuple):
    """A run when a step closed (`row` is set), or when only time has passed (`row` is None)."""

    state: RunState
    info: RunInfo
    """With the user's settings on top."""
    settings: Settings
    row: Row | None
    """The step that has just closed."""
    cost: StepCost | None
    """What that step cost."""
    money: Money
    status: RunStatus
    now: float
    """Unix seconds."""
    since_last_step_s: float | None
    """Seconds of silence; None when a step has just closed, or when the run is not known to go on."""
    rates: TokenPrice | None = None
    """The row of the price book that the bill is made with; None where it is made otherwise."""
    rates_now: TokenPrice | None = None
    """The row that was in force when the step ended; None where that is not known."""

    @property
    def spent_usd(self) -> float | None:
        """What the run has cost."""
        return self.money.paid_usd

    @property
    def bill(self) -> Bill:
        """The same in its parts."""
        return self.money.bill

    @property
    def projection(self) -> Projection:
        """What it will have cost, by the newest forecast. When a step has just closed that is of dollars
        alone, and may be older by a 500th of the run."""
        return self.money.projection

    def get(self, name: str) -> float | None:
        """A canonical quantity of the step that has just closed, or None."""
        return self.row.get(name) if self.row is not None else None
