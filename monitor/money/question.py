"""What a what-if is asked of: a run at one moment, and what the user adds to the question."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...models.alert import Alert
from ...models.money import Bill, MeterName
from ...models.projection import Projection
from ...models.run import RunInfo, RunStatus
from ...models.settings import Settings
from ..state import RunState
from .ledger import Ledger

USUAL_GPUS = 8
PLATEAU = "reward_plateau"
"""The alert whose step a run might have stopped at."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the user asks beyond what is asked of every run."""

    gpus: int = USUAL_GPUS
    gpu_type: str | None = None
    """None asks a run on Tinker about B200s, and a self-hosted one about its own GPUs at the MFU given."""
    usd_per_gpu_hour: float | None = None
    mfu: float | None = None
    """Over the whole step; None takes the run's own, and for a run on Tinker the usual one."""
    plateau_step: int | None = None
    """The step at which the run might have been stopped."""
    plateau_seen: bool = False
    """Whether that is where an alert says that the reward had gone flat, and not just a step."""


def usual(info: RunInfo, alerts: Sequence[Alert]) -> Question:
    """What is asked where nobody has asked for more: the run's own GPUs, and the plateau that it is on."""
    flat = next((a.step for a in alerts if a.rule == PLATEAU and a.cleared_step is None), None)
    return Question(gpus=info.gpus or USUAL_GPUS, plateau_step=flat, plateau_seen=flat is not None)


@dataclass(frozen=True, slots=True)
class Run:
    """A run at one moment, as far as money goes."""

    state: RunState
    info: RunInfo
    settings: Settings
    ledger: Ledger
    bill: Bill
    projection: Projection
    spent_usd: Sequence[float] = ()
    """Cumulative dollars after each closed row."""
    priced_at: float | None = None
    """Unix seconds at which prices are looked up."""
    status: RunStatus = "unknown"

    def tokens(self, meter: MeterName) -> float:
        """Tokens on a meter of the bill; 0 when it has none."""
        return next((line.tokens or 0.0 for line in self.bill.meters if line.name == meter), 0.0)

    def usd(self, meter: MeterName) -> float:
        """Dollars on a meter of the bill; 0 when it has none."""
        return next((line.usd or 0.0 for line in self.bill.meters if line.name == meter), 0.0)

    def total(self, column: str) -> float:
        """Sum of a canonical quantity over all closed rows, repeated ones too."""
        values = self.state.history.columns[column][: self.state.closed]
        return sum(value for value in values if value == value)

    @property
    def hosted(self) -> bool:
        """Whether GPU-hours, not tokens, make the bill."""
        return self.bill.basis == "gpu-hours"

    @property
    def over(self) -> bool:
        """Whether there is nothing left to stop."""
        ended = self.state.ended is not None or self.status in ("finished", "crashed")
        return ended or self.projection.final_usd is None

    @property
    def prompt_tokens(self) -> float:
        return self.tokens("prefill") + self.tokens("prefill_cached")

    @property
    def turns(self) -> float | None:
        """Turns per episode; None where the log does not count them and there may be several."""
        episodes, turns = self.total("episodes"), self.total("turns")
        if episodes and turns:
            return turns / episodes
        return None if self.info.multi_turn else 1.0

    @property
    def mfu(self) -> float | None:
        """Whole-step MFU over all steps that have one, weighted by their time."""
        columns, closed = self.state.history.columns, self.state.closed
        done = [
            (mfu, seconds)
            # Copies of equal length: the fold may be adding a row meanwhile.
            for mfu, seconds in zip(
                columns["mfu_whole_step"][:closed], columns["duration_s"][:closed], strict=True
            )
            if mfu == mfu and seconds == seconds and seconds > 0
        ]
        total = sum(seconds for _, seconds in done)
        return sum(mfu * seconds for mfu, seconds in done) / total if total else None
