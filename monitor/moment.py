"""What an alert rule is shown: a run at one moment."""

from dataclasses import dataclass

from ..models.money import Bill, StepCost
from ..models.projection import Projection
from ..models.run import RunInfo, RunStatus
from ..models.settings import Settings
from .history import Row
from .state import RunState


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A run at `now` (unix s): after a step where `row` is set, between steps otherwise."""

    state: RunState
    info: RunInfo
    settings: Settings
    row: Row | None
    cost: StepCost | None
    bill: Bill
    projection: Projection
    status: RunStatus
    now: float
    since_last_step_s: float | None
