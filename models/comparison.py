"""Runs side by side: what each has cost, how it stands, and in what they differ."""

from typing import Literal

from pydantic import Field

from .money import Basis
from .run import RunStatus
from .value import Quantiles, Value

Measure = Literal["step", "time", "tokens", "dollars"]
"""What runs are aligned by: steps done, wall seconds, tokens sampled, dollars spent."""


class Standing(Value):
    """One run as it stands now. Dollars, tokens and wall seconds; ratios from 0 to 1; None is unknown."""

    name: str
    framework: str | None = None
    model: str | None = None
    state: RunStatus = "unknown"
    steps_done: int = 0
    total_steps: int | None = None
    elapsed_s: float | None = None
    basis: Basis = "unpriced"
    spent_usd: float | None = None
    final_usd: Quantiles | None = None
    """What it will have cost; of a finished run, what it has."""
    usd_per_step: float | None = None
    """Dollars so far over steps done."""
    usd_per_mtok: float | None = None
    """Dollars so far over a million sampled tokens."""
    seconds_per_step: float | None = None
    """Median wall seconds of the last steps."""
    tokens_per_s: float | None = None
    sampled_tokens: float | None = None
    response_length_first: float | None = None
    response_length: float | None = None
    response_length_at_end: float | None = None
    clip_ratio: float | None = None
    reward_first: float | None = None
    reward: float | None = None
    eval_score: float | None = None
    """The first score of the newest evaluation."""
    kl: float | None = None
    entropy: float | None = None
    mfu: float | None = None
    critical: int = 0
    """Critical alerts that hold now."""


class Shared(Value):
    """The runs at the furthest place that all of them have reached."""

    at: float
    """In the measure that they are aligned by."""
    steps: tuple[int | None, ...]
    """As each run numbers them: some count from 0."""
    spent_usd: tuple[float | None, ...]
    elapsed_s: tuple[float | None, ...]
    sampled_tokens: tuple[float | None, ...]
    response_length: tuple[float | None, ...]
    reward: tuple[float | None, ...]


class Difference(Value):
    """A fact in which the runs differ, as each has it; None where a run does not tell."""

    name: str
    values: tuple[str | None, ...]


class Comparison(Value):
    """The whole comparison; every tuple has an entry for each run, in the order in which they were named."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    by: Measure = "step"
    runs: tuple[Standing, ...]
    shared: Shared | None = None
    """None where one of the runs tells nothing of the measure."""
    differences: tuple[Difference, ...] = ()
