"""The last known value of each quantity that tells whether a run is healthy."""

from .value import Value


class Length(Value):
    """Mean response length in tokens at the first and the last step; `growth` is their ratio."""

    first: float | None = None
    last: float | None = None
    growth: float | None = None


class Clip(Value):
    """Share of responses cut at the cap, and whether the log's figure can be trusted."""

    last: float | None = None
    reliable: bool = False
    why: str = ""


class Mfu(Value):
    """Model FLOPs utilisation, 0 to 1: of the update phase, and over the whole step."""

    logged: float | None = None
    """Of the update, as the log has it."""
    corrected: float | None = None
    """The logged figure, with what its framework is known to count wrongly put right."""
    whole_step: float | None = None


class Health(Value):
    """The state of training at the last step."""

    response_length: Length = Length()
    clip_ratio: Clip = Clip()
    mfu: Mfu = Mfu()
    tokens_per_s: float | None = None
    reward: float | None = None
    kl: float | None = None
    entropy: float | None = None
    grad_norm: float | None = None
