"""How many tokens a planned run takes, per meter. Pure; the formulas are those of docs/cost-model.md.

The one rule: every count is per episode first, then times the episodes.
"""

from dataclasses import dataclass
from math import ceil

from ...models.estimate import EstimateInputs
from .meters import Count


@dataclass(frozen=True, slots=True)
class Volume:
    """Tokens of a whole run."""

    tokens: dict[Count, float]
    """Billed tokens by meter."""
    batch_tokens: float
    """Tokens of the finished sequences, prompt and responses: what self-hosted training works on."""
    eval_tokens: float
    """The same of the evaluations."""
    sequence_length: float
    """Mean tokens of a finished sequence."""


def mean_length(response: float, growth: float, cap: float | None) -> float:
    """Mean tokens per response over a run in which they grow evenly from `response` to `response` · `growth`.

    response · (1 + growth) / 2, and with a cap the mean of what the ramp has below it.
    """
    last = response * growth
    if cap is None or max(response, last) <= cap:
        return response * (1 + growth) / 2
    low = min(response, last)
    if low >= cap:
        return cap
    below = (cap - low) / abs(last - response)
    return below * (low + cap) / 2 + (1 - below) * cap


def evaluations(steps: int, every: int | None) -> int:
    """How often a run evaluates: before step 0, `every`, 2 · `every` …"""
    return ceil(steps / every) if every else 0


def volume(inputs: EstimateInputs, growth: float) -> Volume:
    """Tokens of the planned run when responses end at `growth` times their first length."""
    episodes = inputs.steps * inputs.groups * inputs.group_size
    problems = evaluations(inputs.steps, inputs.eval_every) * (inputs.eval_problems or 0)
    reply = mean_length(inputs.response_tokens, growth, inputs.max_tokens)
    turns, prompt = inputs.turns, inputs.prompt_tokens
    added = max(inputs.tokens_per_turn, reply)
    prefill = turns * prompt + turns * (turns - 1) / 2 * added
    sequence = prompt + (turns - 1) * added + reply
    cached = _cached(inputs, prefill, added)
    trained = sequence - 1 if inputs.accounting == "billed" else turns * reply
    tokens: dict[Count, float] = {
        ("sample", "sampled_tokens"): episodes * turns * reply,
        ("prefill", "prefill_tokens"): episodes * (prefill - cached),
        ("train", "trained_tokens"): episodes * trained,
    }
    if cached:
        tokens["prefill_cached", "prefill_cached_tokens"] = episodes * cached
    if problems:
        tokens["eval_sample", "sampled_tokens"] = problems * turns * reply
        tokens["eval_prefill", "prefill_tokens"] = problems * prefill
    return Volume(tokens, episodes * sequence, problems * sequence, sequence)


def _cached(inputs: EstimateInputs, prefill: float, added: float) -> float:
    """Prompt tokens of an episode that come from the cache, on average over its group.

    Across turns only what a turn adds is new. Within a group only the first rollout pays for the shared
    prompt; after the first turn rollouts differ, so nothing else is shared.
    """
    share = 1 / inputs.group_size
    prompt = inputs.prompt_tokens
    match inputs.caching:
        case "none":
            new = prefill
        case "group":
            new = prefill - inputs.turns * prompt * (1 - share)
        case "turns":
            new = prompt + (inputs.turns - 1) * added
        case "both":
            new = prompt * share + (inputs.turns - 1) * added
    return max(0.0, prefill - new)
