"""Whether veRL's clip ratio is the share of responses cut at the cap. It often is not.

veRL counts rows as long as the tensor is wide. Up to 0.8 that is the cap. The 0.9 trainer pads to the
longest row, so that the figure is never 0 and says nothing unless that row reached the cap.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from . import version as v
from .shape import Shape, shape_of

KEY = "response_length/clip_ratio"
PADDED = frozenset({v.BEFORE_03, v.EARLY, v.V05, v.V06})
"""Versions that certainly pad to the cap."""


@dataclass(frozen=True, slots=True)
class Clip:
    """The share of responses cut at the cap (0 to 1), and whether to believe it."""

    ratio: float | None = None
    reliable: bool | None = None
    why: str | None = None
    cap: int | None = None
    """The cap in tokens, where the figure itself gives it away."""


def clip_of(
    values: Mapping[str, float],
    version: str | None,
    cap: int | None,
    prompt_cap: int | None = None,
    model_len: int | None = None,
    shape: Shape | None = None,
) -> Clip:
    """Judge the clip ratio of one step.

    `cap` is data.max_response_length, `prompt_cap` data.max_prompt_length, `model_len`
    rollout.max_model_len, all in tokens. `shape`: that of the values, where it is known already.
    """
    ratio, longest = values.get(KEY), values.get("response_length/max")
    if ratio is None or not 0 <= ratio <= 1 or longest is None or not math.isfinite(longest):
        return Clip()
    padded = version in PADDED or (version != v.V1 and (shape or shape_of(values)).v0)
    if cap is None:
        if padded and ratio > 0:
            return Clip(ratio, True, f"the rows are padded to the cap, {longest:.0f} tokens", int(longest))
        why = "no cap in the log" if padded else "the log has no cap, and rows may be padded to the longest"
        return Clip(ratio, False, why)
    if longest >= cap:
        return Clip(ratio, True, f"the longest response reached the cap of {cap} tokens")
    if model_len is not None and model_len < cap + (prompt_cap or 0):
        return Clip(0.0, False, f"max_model_len {model_len} may cut responses before the cap of {cap}")
    if ratio > 0:
        return Clip(
            0.0, True, f"no response reached the cap of {cap}; veRL's own figure counts the longest rows"
        )
    return Clip(0.0, True, f"no response reached the cap of {cap} tokens")
