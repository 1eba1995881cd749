"""What a run would cost, said before it starts: the inputs as they are flagged, and the answer."""

from typing import Literal

from pydantic import Field

from .money import Meter, PriceBookRef
from .settings import TokenRates
from .value import Quantiles, Value


class EstimateInputs(Value):
    """A planned run. The names are those of the flags and of the keys in a TOML file."""

    model: str
    """Hub id, with context tier where one is billed."""
    platform: Literal["both", "tinker", "self-hosted"] = "both"
    prices: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}-\d{2}$")
    """Day whose price list holds; None for the newest."""
    price: TokenRates | None = None
    """The user's own rates, which beat the list."""
    accounting: Literal["billed", "published"] = "billed"
    """Trained tokens: as Tinker bills them (prompt and completion, less one an episode), or completions."""
    caching: Literal["none", "group", "turns", "both"] = "none"
    """Which repeated prompt tokens are served from the prefix cache: within a group, across turns."""

    groups: int = Field(gt=0)
    """Prompts per step."""
    group_size: int = Field(gt=0)
    """Rollouts per prompt."""
    prompt_tokens: float = Field(ge=0)
    response_tokens: float = Field(gt=0)
    """Mean sampled tokens per response (per turn) at the first step."""
    growth: float = Field(default=1.0, gt=0)
    """Response length at the last step over that at the first."""
    max_tokens: float | None = Field(default=None, gt=0)
    """Cap on a response."""
    steps: int = Field(gt=0)
    turns: int = Field(default=1, gt=0)
    tokens_per_turn: float = Field(default=0, ge=0)
    """What each turn adds to the context: the reply and what the environment answers; at least the reply."""
    eval_every: int | None = Field(default=None, gt=0)
    eval_problems: int | None = Field(default=None, gt=0)

    gpus: int | None = Field(default=None, gt=0)
    gpu_type: str | None = None
    usd_per_gpu_hour: float | None = Field(default=None, ge=0)
    mfu: float = Field(default=0.10, gt=0, le=1)
    """Over the whole step, 0 to 1."""
    active_params_b: float | None = Field(default=None, gt=0)
    """Billions of parameters that a token meets, for a model that is not in the table."""
    lora_rank: int = Field(default=0, ge=0)
    """Self-hosted training: 0 for all weights. Tinker trains LoRA adapters and bills alike."""
    reference_pass: bool = True


class TinkerEstimate(Value):
    """Dollars over the growth range; the meters are those of the middle."""

    usd: Quantiles
    meters: tuple[Meter, ...]
    price_book: PriceBookRef | None = None
    """None with the user's own rates."""


class SelfHostedEstimate(Value):
    """The same work on GPUs of one's own, over the growth range."""

    usd: Quantiles | None
    """None where no price is known for the GPU."""
    gpu_hours: Quantiles
    hours: Quantiles
    """Wall time."""


class Estimate(Value):
    """Both platforms side by side; None where one was not asked for or cannot be told: `notes` say why."""

    tinker: TinkerEstimate | None
    self_hosted: SelfHostedEstimate | None
    inputs: EstimateInputs
    break_even_mfu: float | None = None
    """Whole-step MFU at which the GPUs cost what Tinker does; more than that, and they are cheaper."""
    notes: tuple[str, ...] = ()
