"""Many runs side by side, one line a run, and what they come to. Dollars and tokens; None is unknown."""

from typing import Literal

from .alert import Alert
from .money import Basis
from .run import Framework, RunStatus
from .value import Quantiles, Value

RowState = Literal["reading", "unreadable"] | RunStatus


class FleetRow(Value):
    """One run of a fleet."""

    id: str
    """The target that opens it."""
    name: str
    framework: Framework = "unknown"
    model: str | None = None
    also: tuple[str, ...] = ()
    """Further logs of the same run, by their targets."""
    place: str = ""
    """Where it lies, below the folder that was searched."""
    project: str = ""
    """As its configuration says, or else the folder it lies in."""
    state: RowState = "reading"
    problem: str = ""
    """One line, when it cannot be read."""
    step: int | None = None
    """Steps done, as progress counts."""
    total_steps: int | None = None
    elapsed_s: float | None = None
    modified_at: float | None = None
    """Unix seconds of its last sign of life."""
    basis: Basis = "unpriced"
    spent_usd: float | None = None
    final_usd: Quantiles | None = None
    """What it will have cost; what it has cost, once it is over."""
    remaining_s: Quantiles | None = None
    length: float | None = None
    length_growth: float | None = None
    lengths: tuple[float, ...] = ()
    """The mean response length over the run so far, in a few values."""
    clip: float | None = None
    """Share of responses cut at the cap, where the log's figure can be trusted."""
    mfu: float | None = None
    alerts: tuple[Alert, ...] = ()
    """Those that hold now, the gravest first."""
    sources: tuple[str, ...] = ()
    """What it is read from."""
    needs: str = ""
    """What the user may say to make a figure known, such as `--total-steps N`; empty when nothing."""


class FleetTotals(Value):
    """All runs of a fleet together."""

    runs: int = 0
    running: int = 0
    reading: int = 0
    """Runs that have not been read to their end yet: the sums are still growing."""
    spent_usd: float | None = None
    final_usd: Quantiles | None = None
    """`p50` is the sum of the medians. The interval takes runs of one project as wrong in the same way, and
    projects as independent of each other."""
    unpriced: int = 0
    """Runs whose dollars are not known, and that no sum holds."""
    unprojected: int = 0
    """Runs that go on, and of which only what they have cost so far is in the sum."""
    budget_usd: float | None = None
    over_budget: Literal["no", "may", "will"] | None = None
    """Whether the 80 % interval reaches above the budget, or its middle already does."""
    warnings: int = 0
    criticals: int = 0
