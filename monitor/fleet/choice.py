"""Which log of a run each quantity is taken from. Pure.

Its one rule: what makes up one figure comes from one log. Tokens are never the prompts of one and the
responses of another, and a step's phases belong to its duration: so nothing is paid for twice.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from ...models.step import COLUMNS, Step

TOGETHER: Mapping[str, tuple[str, ...]] = {
    "step times": ("duration_s", "phases"),
    "clock times": ("ended_at",),
    "tokens": (
        "sampled_tokens", "prefill_tokens", "prefill_cached_tokens", "trained_tokens", "trained_upper_bound",
        "scored_tokens", "discarded_sampled_tokens", "discarded_prefill_tokens", "discarded_trained_tokens",
        "total_tokens", "logged_usd", "episodes", "turns",
    ),
    "response length": ("response_length_mean", "response_length_max", "response_length_min"),
    "clip ratio": ("clip_ratio", "clip_reliable", "clip_why"),
}  # fmt: skip
"""Fields of a step that only make sense from one log, by the name that people give them."""
WORDS = {
    "reward_mean": "reward",
    "kl": "KL",
    "grad_norm": "grad norm",
    "lr": "learning rate",
    "mfu_logged": "MFU",
    "tokens_per_s": "tokens/s",
    "prompt_length_mean": "prompt length",
    "pg_clip_fraction": "PG clip fraction",
    "zero_variance_groups": "groups without variance",
}
_ONE_BY_ONE = tuple(
    name for name in COLUMNS
    if name != "mfu_whole_step" and not any(name in fields for fields in TOGETHER.values())
)  # fmt: skip
GROUPS: Mapping[str, tuple[str, ...]] = {
    **TOGETHER,
    **{WORDS.get(name, name.replace("_", " ")): (name,) for name in _ONE_BY_ONE},
}
"""Every field of a step, in groups that are taken from one log."""
GROUP_OF = {field: group for group, fields in GROUPS.items() for field in fields}
CLIP = "clip ratio"
ENOUGH, ENOUGH_MONEY = 0.5, 0.9
"""A log that leads keeps a quantity as long as it tells at least this share of what another tells."""
MONEY = ("step times", "tokens")


def told_by(step: Step) -> Counter[str]:
    """How many fields of each group a step tells. A clip ratio that cannot be trusted counts for little."""
    told: Counter[str] = Counter()
    for field in step.model_fields_set:
        group = GROUP_OF.get(field)
        if group is not None and field != "trained_upper_bound":
            value = getattr(step, field)
            told[group] += value is not None and value != {}
    if step.clip_reliable is not True and told[CLIP]:
        told[CLIP] = 0 if step.clip_ratio is None else 1
    elif step.clip_ratio is not None:
        told[CLIP] = 3
    return +told


def owners(told: Sequence[Mapping[str, float]]) -> dict[str, int]:
    """For each group, the index of the log that it is taken from.

    `told` are the fields that each log tells per step of the run, the leader's first.
    """
    chosen: dict[str, int] = {}
    for group in GROUPS:
        shares = [log.get(group, 0.0) for log in told]
        most = max(shares, default=0.0)
        if most:
            enough = ENOUGH_MONEY if group in MONEY else ENOUGH
            chosen[group] = 0 if shares[0] >= enough * most else shares.index(most)
    return chosen


def spoken(groups: Sequence[str]) -> str:
    """Names as people say them: `KL`, `KL and reward`, `KL, reward and 3 more`."""
    if len(groups) > 4:
        return f"{', '.join(groups[:3])} and {len(groups) - 3} more"
    return " and ".join(filter(None, [", ".join(groups[:-1]), groups[-1]])) if groups else ""
