"""Prices and bills. Rates are dollars per million tokens or per GPU-hour; amounts are dollars."""

from typing import Literal

from .value import Value

MeterName = Literal[
    "sample",
    "prefill",
    "prefill_cached",
    "train",
    "eval_sample",
    "eval_prefill",
    "scoring",
    "discarded",
    "gpu",
    "storage",
    "unsplit",
]
"""`unsplit`: dollars that a framework logged as one sum, where no rates tell how they divide."""
Basis = Literal["logged", "metered", "gpu-hours", "unpriced"]


class TokenPrice(Value):
    """A provider's price for one model, dollars per million tokens."""

    provider: str
    model: str
    prefill: float
    prefill_cached: float | None = None
    """None when the provider had no cached rate then: cached tokens are billed as prefill."""
    sample: float
    train: float | None = None
    """None where the provider's training price is not known."""
    effective_from: str
    """First day on which the price holds, YYYY-MM-DD."""
    source: str
    note: str = ""
    """One line, when this is not the price list in force at the time asked for."""


class GpuPrice(Value):
    """What an hour of one GPU costs, and what it can do at most."""

    name: str
    usd_per_hour: float | None
    """None where no public price is known: the user must give one."""
    date: str
    source: str
    weak: bool = False
    bf16_tflops: float | None = None
    fp8_tflops: float | None = None


class PriceBookRef(Value):
    """Which price list a bill was made with."""

    date: str
    source: str


class Meter(Value):
    """One line of a bill."""

    name: MeterName
    tokens: float | None = None
    hours: float | None = None
    usd: float | None = None


class PhaseCost(Value):
    """What one phase of a self-hosted run has taken of the time that is paid for."""

    name: str
    """A phase of a step, or `idle`: start-up, stalls, and what the framework does not time."""
    seconds: float
    """Wall seconds."""
    hours: float | None = None
    """GPU-hours; None where the number of GPUs is not known."""
    usd: float | None = None
    share: float
    """Of the wall time paid for, 0 to 1."""


class Bill(Value):
    """What the run has cost so far."""

    basis: Basis = "unpriced"
    spent_usd: float | None = None
    meters: tuple[Meter, ...] = ()
    price_book: PriceBookRef | None = None
    last_step_usd: float | None = None
    phases: tuple[PhaseCost, ...] = ()
    """Where a self-hosted run's hours went, longest first and `idle` last; they add up to the bill."""
    notes: tuple[str, ...] = ()
    """What the figure leaves out, adds or bounds, and how to give a missing price; one line each."""


class StepCost(Value):
    """What one step cost, apart into ordinary work, evaluation and checkpointing.

    The one value that passes from money to projection and alerts. Dollars and wall seconds;
    None is unknown.
    """

    step: int
    usd: float | None = None
    """Ordinary work: rollouts, scoring and training. Evals and checkpoints are apart."""
    usd_at_cap: float | None = None
    """The same, had every response run to the token cap."""
    duration_s: float | None = None
    """Wall time of the ordinary work."""
    response_length: float | None = None
    clip_ratio: float | None = None
    eval_usd: float | None = None
    """None when no evaluation ran beside this step."""
    eval_s: float | None = None
    checkpoint_usd: float | None = None
    checkpoint_s: float | None = None
    repeated: bool = False
    """A step that had been done before a restart: it costs, but is no progress."""


class WhatIf(Value):
    """What the run would have cost, or would cost, had one thing been otherwise."""

    name: Literal[
        "group-cached",
        "turns-cached",
        "on-tinker",
        "on-gpus",
        "break-even-mfu",
        "half-evals",
        "stop-now",
        "stop-at-plateau",
    ]
    label: str
    usd: float
    difference_usd: float
    """`usd` less what the run has cost, or, where it is about stopping, less what it will have cost."""
    how: str
    """One line: the assumption behind the figure."""
