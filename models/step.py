"""One optimiser step and one evaluation, in canonical names and units."""

from typing import Annotated, Any, Literal

from pydantic import Field

from .value import Value

PhaseName = Literal[
    "generate",
    "old_logprob",
    "ref",
    "update",
    "update_critic",
    "reward",
    "weight_sync",
    "eval",
    "checkpoint",
    "other",
]


Count = Annotated[int, Field(ge=-(2**53), le=2**53)]
"""A whole number that a float can hold: what is beyond comes from a damaged log."""


class Step(Value):
    """A finished optimiser step, or the part of one that a log line told.

    Parts with equal (`step`, `attempt`) are merged by the fold. Unknown is None, never 0.
    Token counts are totals over the whole step and the whole job; times are wall seconds;
    ratios are 0 to 1.
    """

    kind: Literal["step"] = "step"
    step: Count
    attempt: Count = 0
    """How often the run had been restarted when this step ran: a repeated step is paid twice."""
    complete: bool = True
    """False while the source expects more parts of this step; a later step completes it too."""
    ended_at: float | None = None
    """Unix seconds, from the log or from when the line was seen to arrive; None when neither is known."""
    duration_s: float | None = None
    """Wall time, with what the framework leaves out of its own figure (evals, checkpoints) added."""
    phases: dict[PhaseName, float] = {}
    """Disjoint wall seconds by phase. Their sum is at most `duration_s`."""

    sampled_tokens: float | None = None
    prefill_tokens: float | None = None
    """Prompt tokens billed at the full rate."""
    prefill_cached_tokens: float | None = None
    trained_tokens: float | None = None
    trained_upper_bound: bool = False
    """True when `trained_tokens` can only be bounded from above (multi-turn totals)."""
    scored_tokens: float | None = None
    """Prefill of a teacher or reference model that this step paid for."""
    discarded_sampled_tokens: float | None = None
    discarded_prefill_tokens: float | None = None
    discarded_trained_tokens: float | None = None
    total_tokens: float | None = None
    """Prompt and response tokens of the train batch, where only the sum is logged."""
    logged_usd: float | None = None
    """What the framework itself says this step cost."""

    episodes: float | None = None
    turns: float | None = None
    response_length_mean: float | None = None
    response_length_max: float | None = None
    response_length_min: float | None = None
    prompt_length_mean: float | None = None
    clip_ratio: float | None = None
    """Share of responses cut at the cap."""
    clip_reliable: bool | None = None
    clip_why: str | None = None
    """One line: what the clip ratio was read from, or why it is not to be trusted."""
    reward_mean: float | None = None
    kl: float | None = None
    entropy: float | None = None
    grad_norm: float | None = None
    lr: float | None = None
    loss: float | None = None
    pg_clip_fraction: float | None = None
    zero_variance_groups: float | None = None
    """Share of groups whose rollouts all got the same reward."""
    mfu_logged: float | None = None
    mfu_whole_step: float | None = None
    tokens_per_s: float | None = None
    """Prompt and response tokens per wall second, whole job."""

    raw: dict[str, float] = {}
    """Every numeric key of the log under its own name; may hold NaN and infinities as logged."""

    @classmethod
    def of(cls, told: dict[str, Any]) -> "Step":
        """A step of values that have their types already: a reader of logs has made them floats one by one.

        Unlike the constructor it looks at none of them, which would take longer than parsing the row did.
        """
        step = cls.__new__(cls)
        put = object.__setattr__  # a value does not let itself be changed
        put(step, "__dict__", {**_DEFAULTS, "phases": {}, "raw": {}, **told})
        put(step, "__pydantic_fields_set__", set(told))
        put(step, "__pydantic_extra__", None)
        put(step, "__pydantic_private__", None)
        return step


_DEFAULTS = {name: field.default for name, field in Step.model_fields.items()}


class Eval(Value):
    """One evaluation, billed apart from training."""

    kind: Literal["eval"] = "eval"
    step: int
    attempt: int = 0
    name: str = "test"
    ended_at: float | None = None
    duration_s: float | None = None
    episodes: float | None = None
    sampled_tokens: float | None = None
    prefill_tokens: float | None = None
    prefill_cached_tokens: float | None = None
    response_length_mean: float | None = None
    scores: dict[str, float] = {}


COLUMNS: tuple[str, ...] = tuple(
    name for name, field in Step.model_fields.items() if field.annotation == (float | None)
)
"""The canonical series of a run, in declaration order."""
