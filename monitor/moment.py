"""All that is known at one moment, as the alert rules are given it. A value; it computes nothing."""

from dataclasses import dataclass

from ..models.money import Bill, StepCost, TokenPrice
from ..models.projection import Projection
from ..models.run import RunInfo, RunStatus
from ..models.settings import Settings
from .history import Row
from .state import RunState


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A run when a step closed (`row` is set), or when only time has passed (`row` is None)."""

    state: RunState
    info: RunInfo
    """With the user's settings on top."""
    settings: Settings
    row: Row | None
    """The step that has just closed."""
    cost: StepCost | None
    """What that step cost."""
    bill: Bill
    projection: Projection
    status: RunStatus
    now: float
    """Unix seconds."""
    since_last_step_s: float | None
    """Seconds of silence; None when a step has just closed, or when the run is not known to go on."""
    rates: TokenPrice | None = None
    """The row of the price book that the bill is made with; None where it is made otherwise."""
    rates_now: TokenPrice | None = None
    """The row that was in force when the step ended; None where that is not known."""

    def get(self, name: str) -> float | None:
        """A canonical quantity of the step that has just closed, or None."""
        return self.row.get(name) if self.row is not None else None
