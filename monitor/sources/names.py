"""What a key of an unknown log means, by its name alone. Its one rule: a name is taken only where it leaves
no doubt; every other key stays as it is, under its own name.
"""

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

_WORD = re.compile(r"[a-z]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

MEAN = frozenset({"mean", "avg", "average"})
MAX = frozenset({"max", "maximum", "longest"})
MIN = frozenset({"min", "minimum", "shortest"})
RESPONSE = frozenset({"response", "responses", "completion", "completions", "gen", "generation", "generated"})
PROMPT = frozenset({"prompt", "prompts"})
LENGTH = frozenset({"len", "length", "lengths", "lens", "tokens", "token"})
PADDING = frozenset(
    {"train", "training", "trainer", "rollout", "rollouts", "num", "count", "n", "per", "sample", "in"}
)
"""Words that do not change what a name means."""
EVALUATION = frozenset({"eval", "val", "valid", "validation", "test", "evaluation"})
SPREAD = frozenset(
    {"std", "var", "median", "sum", "total", "p10", "p50", "p90", "p95", "p99", "diff", "loss"}
)


class Meaning(NamedTuple):
    """A canonical quantity, the factor to its unit, and how plain the name is (0 is plainest)."""

    field: str
    factor: float = 1.0
    rank: int = 0


EXACT: dict[frozenset[str], Meaning] = {
    frozenset(words.split()): meaning
    for words, meaning in {
        "reward": Meaning("reward_mean", rank=1),
        "reward mean": Meaning("reward_mean"),
        "reward avg": Meaning("reward_mean"),
        "rewards mean": Meaning("reward_mean"),
        "mean reward": Meaning("reward_mean"),
        "average reward": Meaning("reward_mean"),
        "reward total mean": Meaning("reward_mean"),
        "raw reward": Meaning("reward_mean"),
        "step time": Meaning("duration_s"),
        "step time s": Meaning("duration_s"),
        "step time sec": Meaning("duration_s"),
        "step seconds": Meaning("duration_s"),
        "step time seconds": Meaning("duration_s"),
        "step duration": Meaning("duration_s"),
        "step duration s": Meaning("duration_s"),
        "step time ms": Meaning("duration_s", 0.001),
        "step timing s": Meaning("duration_s"),
        "elapsed time per iteration": Meaning("duration_s"),
        "time per iteration": Meaning("duration_s"),
        "step sec": Meaning("duration_s"),
        "step s": Meaning("duration_s"),
        "iter time": Meaning("duration_s"),
        "iter time s": Meaning("duration_s"),
        "iteration time": Meaning("duration_s"),
        "iteration time s": Meaning("duration_s"),
        "time per step": Meaning("duration_s"),
        "time per step s": Meaning("duration_s"),
        "sec per step": Meaning("duration_s"),
        "seconds per step": Meaning("duration_s"),
        "time step": Meaning("duration_s"),
        "time step s": Meaning("duration_s"),
        "time step total": Meaning("duration_s"),
        "time total": Meaning("duration_s", rank=1),
        "grad norm": Meaning("grad_norm"),
        "gradient norm": Meaning("grad_norm"),
        "learning rate": Meaning("lr"),
        "lr": Meaning("lr"),
        "loss": Meaning("loss"),
        "loss mean": Meaning("loss"),
        "policy loss": Meaning("loss", rank=1),
        "pg loss": Meaning("loss", rank=1),
        "actor loss": Meaning("loss", rank=1),
        "lm loss": Meaning("loss"),
        "reduced loss": Meaning("loss"),
        "entropy": Meaning("entropy"),
        "entropy mean": Meaning("entropy"),
        "entropy avg": Meaning("entropy"),
        "kl": Meaning("kl"),
        "kl mean": Meaning("kl"),
        "kl avg": Meaning("kl"),
        "kl div": Meaning("kl"),
        "kl divergence": Meaning("kl"),
        "approx kl": Meaning("kl", rank=1),
        "kl loss": Meaning("kl", rank=1),
        "kl ref": Meaning("kl", rank=1),
        "ref kl": Meaning("kl", rank=1),
        "clip fraction": Meaning("pg_clip_fraction"),
        "pg clipfrac": Meaning("pg_clip_fraction"),
        "clipfrac": Meaning("pg_clip_fraction"),
        "clip frac": Meaning("pg_clip_fraction"),
        "mfu": Meaning("mfu_logged"),
        "frac reward zero std": Meaning("zero_variance_groups"),
        "truncated ratio": Meaning("clip_ratio"),
        "truncated rate": Meaning("clip_ratio"),
        "truncation rate": Meaning("clip_ratio"),
        "truncated fraction": Meaning("clip_ratio"),
        "truncation ratio": Meaning("clip_ratio"),
        "tokens second": Meaning("tokens_per_s"),
        "tokens sec": Meaning("tokens_per_s"),
    }.items()
}
"""By the set of their words. `clip ratio` is not here: it may be the policy's or the responses'."""
SHARES = frozenset({"clip_ratio", "mfu_logged", "zero_variance_groups", "pg_clip_fraction"})
SAMPLES = ("rollout_count", "num_rollouts", "num_samples", "num_completions", "rollout/num_samples")
TRUNCATED = ("truncated_count", "num_truncated", "truncated")


def meaning_of(name: str) -> Meaning | None:
    """What a key surely is, or None."""
    words = frozenset(_WORD.findall(_CAMEL.sub(" ", name).lower()))
    if not words or words & EVALUATION:
        return None
    bare = words - PADDING
    length = _length(bare if bare & LENGTH else words)
    return length or EXACT.get(words) or EXACT.get(words - {"train", "training", "trainer", "rollout"})


def _length(words: frozenset[str]) -> Meaning | None:
    """A length in tokens, of prompts or of responses, as mean, largest or smallest."""
    if not words & LENGTH or words & SPREAD:
        return None
    of_prompt, of_response = bool(words & PROMPT), bool(words & RESPONSE)
    if of_prompt == of_response or words - LENGTH - PROMPT - RESPONSE - MEAN - MAX - MIN:
        return None
    kinds = [kind for kind, group in (("mean", MEAN), ("max", MAX), ("min", MIN)) if words & group]
    if kinds == ["mean"]:
        return Meaning("prompt_length_mean" if of_prompt else "response_length_mean")
    if len(kinds) == 1 and of_response:
        return Meaning(f"response_length_{kinds[0]}")
    return None


def fields_of(values: Mapping[str, float]) -> tuple[dict[str, float], dict[str, str]]:
    """(canonical value by field, raw key by field). Of several keys for one field the plainest wins."""
    found: dict[str, float] = {}
    taken: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for key, meaning in _telling(tuple(values)):
        value = values[key]
        if not math.isfinite(value) or ranks.get(meaning.field, 99) <= meaning.rank:
            continue
        if meaning.field in SHARES and not 0 <= value <= 1:
            continue
        found[meaning.field] = value * meaning.factor
        taken[meaning.field] = key
        ranks[meaning.field] = meaning.rank
    _count(values, found, taken)
    return found, taken


def _count(values: Mapping[str, float], found: dict[str, float], taken: dict[str, str]) -> None:
    """What follows from the number of responses: the share cut off, and the tokens sampled."""
    samples_key = next(
        (key for key in SAMPLES if values.get(key, 0) > 0 and math.isfinite(values[key])), None
    )
    if samples_key is None:
        return
    samples = values[samples_key]
    found["episodes"], taken["episodes"] = samples, samples_key
    cut_key = next((key for key in TRUNCATED if key in values), None)
    if "clip_ratio" not in found and cut_key is not None and 0 <= values[cut_key] <= samples:
        found["clip_ratio"] = values[cut_key] / samples
        taken["clip_ratio"] = f"{cut_key} / {samples_key}"
    if "response_length_mean" in found:
        found["sampled_tokens"] = found["response_length_mean"] * samples
        taken["sampled_tokens"] = f"{taken['response_length_mean']} × {samples_key}"


@lru_cache(maxsize=256)
def _telling(keys: tuple[str, ...]) -> tuple[tuple[str, Meaning], ...]:
    """The keys whose names are telling; remembered, since a log has the same keys in each row."""
    return tuple((key, meaning) for key in keys if (meaning := meaning_of(key)) is not None)
