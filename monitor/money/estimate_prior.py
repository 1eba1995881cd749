"""What a step of a run is expected to cost before one has been seen: the projection's prior. Pure.

The one rule: only from what the run's configuration and its first evaluation tell, with a range as wide as
runs have been; where an input is unknown there is no prior. Rented GPUs have none: nothing tells beforehand
how long a step takes.
"""

from collections.abc import Sequence

from pydantic import ValidationError

from ...models.estimate import EstimateInputs
from ...models.run import RunInfo
from ...models.step import Eval
from ...models.value import Quantiles
from .meters import known_usd, rates_of
from .pricing import Pricing
from .volume import volume

CAP_SHARES = (0.14, 0.27, 0.95)
"""P10, P50, P90 of the first response length over the token cap, over 12 public projects."""
PROMPTS = (30.0, 150.0, 900.0)
"""P10, P50, P90 of a prompt, tokens, over 13 public projects: arithmetic to dialogues with tools."""
EVALUATED = (0.75, 1.0, 1.33)
"""The first training lengths over those of an evaluation just before: within 15 % in four public runs."""

Range = tuple[float, float, float]


def step_prior(info: RunInfo, evals: Sequence[Eval], pricing: Pricing) -> Quantiles | None:
    """Dollars of one of the first ordinary steps; `info` with what the user said on top.

    Lengths are those of the first evaluation, else a share of the token cap. The formula is the estimate's.
    """
    rates = rates_of(pricing)
    if pricing.by_gpu_hours or pricing.why_unpriced or not rates:
        return None
    if info.algorithm != "rl" or info.multi_turn or info.groups is None or info.group_size is None:
        return None
    lengths = _lengths(info, evals)
    if lengths is None:
        return None
    usd: list[float] = []
    for response, prompt in zip(*lengths, strict=True):
        try:
            planned = EstimateInputs(
                model=pricing.model or "",
                groups=info.groups,
                group_size=info.group_size,
                prompt_tokens=prompt,
                response_tokens=response,
                max_tokens=info.max_tokens,
                steps=1,
            )
        except ValidationError:
            return None  # a configuration may say anything, such as no groups at all
        usd.append(known_usd(volume(planned, 1.0).tokens, rates) or 0.0)
    low, middle, high = usd
    return Quantiles(p10=low, p50=middle, p90=high) if low > 0 else None


def _lengths(info: RunInfo, evals: Sequence[Eval]) -> tuple[Range, Range] | None:
    """Responses and prompts, tokens; None where nothing tells of responses."""
    cap = info.max_tokens
    first = evals[0] if evals else None
    if first is not None and first.episodes and first.sampled_tokens and first.prefill_tokens:
        sampled = min(first.sampled_tokens / first.episodes, cap or first.sampled_tokens)
        prompt = first.prefill_tokens / first.episodes
        return _times(EVALUATED, sampled, cap), _times(EVALUATED, prompt, info.max_prompt_tokens)
    if cap is None:
        return None
    return _times(CAP_SHARES, cap, cap), _times(PROMPTS, 1.0, info.max_prompt_tokens)


def _times(shares: Range, of: float, at_most: float | None) -> Range:
    low, middle, high = (share * of if at_most is None else min(share * of, at_most) for share in shares)
    return low, middle, high
