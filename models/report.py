"""What `--json` prints, schema 1. Fields may be added; none is renamed or removed."""

from typing import Literal

from pydantic import Field

from .alert import Alert
from .health import Health
from .money import Basis, Meter, PhaseCost, PriceBookRef, WhatIf
from .projection import FinalCost
from .run import Framework, Platform, RunStatus
from .value import Quantiles, Value

SCHEMA = 1


class SourceReport(Value):
    """One place that was read."""

    kind: str
    path: str


class RunReport(Value):
    """What the run is and how far it is. Seconds and tokens; null is unknown."""

    framework: Framework
    name: str
    model: str | None
    sources: tuple[SourceReport, ...]
    platform: Platform
    state: RunStatus
    step: int | None
    """Number of the last step, as the log counts."""
    steps_done: int
    total_steps: int | None
    elapsed_s: float | None
    gpus: int | None
    gpu_type: str | None
    max_tokens: int | None


class CostReport(Value):
    """The bill so far, dollars."""

    basis: Basis
    spent_usd: float | None
    meters: tuple[Meter, ...]
    price_book: PriceBookRef | None
    last_step_usd: float | None
    notes: tuple[str, ...]
    phases: tuple[PhaseCost, ...] = ()


class ProjectionReport(Value):
    """What is to come: 80 % intervals, dollars, seconds and tokens."""

    final_usd: FinalCost | None
    remaining_s: Quantiles | None
    response_length_at_end: Quantiles | None
    budget_usd: float | None
    p_over_budget: float | None
    budget_breaks_at_step: int | None
    notes: tuple[str, ...]


class InputReport(Value):
    """How reading went."""

    lines: int
    bad_lines: int
    notes: tuple[str, ...]


class CheckReport(Value):
    """One frame of a run."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    run: RunReport
    cost: CostReport
    projection: ProjectionReport
    health: Health
    alerts: tuple[Alert, ...]
    input: InputReport


class HistoryReport(Value):
    """A cell for each step that ran, in the order in which they ran. Null is unknown."""

    step: tuple[int, ...]
    attempt: tuple[int, ...]
    spent_usd: tuple[float | None, ...]
    """Cumulative dollars."""
    step_usd: tuple[float | None, ...]
    final_usd_p50: tuple[float | None, ...]
    """The dollars at the end, as they were projected after each step."""
    columns: dict[str, tuple[float | None, ...]]
    """By canonical quantity, those that the log tells."""


class RunHistoryReport(CheckReport):
    """What `rltop report` writes as JSON."""

    history: HistoryReport


class WhatIfReport(Value):
    """What `rltop whatif --json` prints."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    run: str
    basis: Basis
    spent_usd: float | None
    whatifs: tuple[WhatIf, ...]
    notes: tuple[str, ...]
    """What was asked for and cannot be told, one line each."""


class ReconcileLine(Value):
    """One meter of a provider's bill beside ours. Dollars; null is not billed there or not known."""

    meter: Literal["sample", "prefill", "prefill_cached", "train", "storage", "checkpoint"]
    unit: Literal["tokens", "GB-hours", "checkpoints"]
    theirs: float | None
    ours: float | None
    theirs_usd: float | None
    ours_usd: float | None
    difference_usd: float | None
    """Theirs less ours; null where one is not known."""
    why: str
    """A few words: what the difference comes from."""


class UsageHour(Value):
    """What a provider counted in one hour of one session."""

    start: str
    """UTC, ISO 8601."""
    session_id: str | None
    tokens: float
    usd: float | None


class ReconcileReport(Value):
    """What `rltop reconcile --json` prints."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    run: str
    sessions: tuple[str, ...]
    start: str
    """First day asked about, YYYY-MM-DD."""
    end: str
    """Last day asked about."""
    lines: tuple[ReconcileLine, ...]
    theirs_usd: float | None
    ours_usd: float | None
    difference_usd: float | None
    hours: tuple[UsageHour, ...]
    notes: tuple[str, ...]


class RuleSettingReport(Value):
    """One setting of an alert rule."""

    name: str
    value: bool | int | float | str
    default: bool | int | float | str
    origin: str
    """File and line that say so, or `default`."""


class RuleReport(Value):
    """One alert rule as it is set, and on a run, whether it is watched."""

    rule: str
    about: str
    enabled: bool
    severities: tuple[str, ...]
    """What its alerts can be."""
    settings: tuple[RuleSettingReport, ...]
    watched: bool | None
    """Null where no run was looked at."""
    why: str
    """What a rule that is not watched lacks, or what it waits for."""


class RulesReport(Value):
    """What `rltop alerts --json` prints."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    target: str | None
    rules: tuple[RuleReport, ...]
