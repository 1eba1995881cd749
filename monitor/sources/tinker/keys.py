"""What each key of a metrics row means, decided once per key and remembered.

The one rule: a key that is not listed here keeps its value under its own name and means nothing else.
Key names are those of tinker-cookbook 0.1 to 0.6 and of training loops written by hand on the same API.
"""

import re
from typing import Literal, NamedTuple

from ....models.step import PhaseName

Kind = Literal["train", "alias", "plain", "time", "level", "eval", "beside", "index"]


class Meaning(NamedTuple):
    """What to do with the value of a key.

    `train` is told under `name`; `alias` too, unless a `train` key has told it; `time` is told but
    proves no training step; `level` is a cumulative counter; `eval` is a result of evaluator `scope`;
    `beside` belongs to an evaluation but is no result; `index` is the step number itself.
    """

    kind: Kind
    name: str = ""
    scope: str = ""


STEP_KEYS = ("step", "progress/batch", "training_client/step", "_step", "global_step", "batch", "iteration")
"""Where the step number stands, best first: a row without `step` may still say it."""

_TRAIN = {
    "progress/batch": "batch",
    "progress/done_frac": "done_frac",
    "progress": "progress",
    "training_client/step": "client_step",
    "env/all/ac_tokens_per_turn": "response_length",
    "env/all/ob_tokens_per_turn": "prompt_length",
    "env/all/turns_per_episode": "turns_per_episode",
    "env/all/total_episodes": "episodes",
    "env/all/total_turns": "turns",
    "env/all/total_ac_tokens": "ac",
    "env/all/total_ob_tokens": "ob",
    "env/all/total_cached_ob_tokens": "ob_cached",
    "env/all/reward/total": "reward",
    "env/all/by_group/frac_mixed": "frac_mixed",
    "optim/lr": "lr",
    "learning_rate": "lr",
    "optim/entropy": "entropy",
    "optim/kl_sample_train_v1": "kl_sample_train",
    "kl_policy_base": "kl_base",
    "kl_pre_post_v1": "kl_pre_post",
    "optim/kl_pre_post_v1": "kl_pre_post",
    "teacher_kl": "teacher_kl",
    "skyrl.ai/grad_norm": "grad_norm",
    "optim/grad_norm": "grad_norm",
    "tokens/sampled": "billed_sampled",
    "tokens/prefill_cached": "billed_cached",
    "tokens/prefill_uncached": "billed_uncached",
    "tokens/trained": "billed_trained",
    "cost/step_usd": "step_usd",
    "num_tokens": "num_tokens",
    "num_sequences": "num_sequences",
    "num_loss_tokens": "num_loss_tokens",
    "num_pairs": "num_pairs",
    "train_mean_nll": "nll",
    "dpo_loss": "dpo_loss",
    "chosen_reward": "chosen_reward",
    "sdft/num_datums": "sdft_datums",
}
_ALIASES = {
    "mean_reward": "reward",
    "reward/total": "reward",
    "reward/mean": "reward",
    "reward_mean": "reward",
    "reward": "reward",
    "mean_response_length": "response_length",
    "response_length_mean": "response_length",
    "response_length/mean": "response_length",
    "response_length": "response_length",
    "mean_completion_length": "response_length",
    "entropy": "entropy",
    "grad_norm": "grad_norm",
    "kl": "kl_base",
    "lr": "lr",
    "loss": "loss",
    "train/loss": "loss",
    "loss:mean": "loss",
    "loss:sum": "loss",
    "time_total": "time/total",
    "batch_time": "time/total",
    "time/training_loop/total": "time/total",
    "time/step_s": "time/total",
    "time/total_s": "time/total",
    "step_time_s": "time/total",
    "step_time": "time/total",
}
_TIMES = frozenset(
    "time/" + name
    for name in (
        "total",
        "run_evals",
        "evals",
        "infrequent_evals",
        "sample",
        "sampling",
        "train",
        "train_step",
        "step",
        "save_checkpoint",
        "save_checkpoint_async",
        "save_checkpoint_and_get_sampling_client",
        "compute_kl_penalty",
        "compute_kl_sample_train",
        "assemble_training_data",
        "prepare_minibatch",
        "get_batch",
        "submit_batch",
        "finish_batch",
        "evaluation_loop/total",
    )
)
_PROVES_NO_STEP = frozenset(
    ("time/run_evals", "time/evals", "time/infrequent_evals", "time/evaluation_loop/total")
)
_LEVELS = frozenset(
    [
        f"tokens/{which}/{kind}"
        for which in ("cumulative", "discarded")
        for kind in ("sampled", "prefill_cached", "prefill_uncached", "trained")
    ]
    + ["cost/cumulative_usd", "cost/discarded_usd"]
)
_OWN_PHASES: dict[str, PhaseName] = {
    "sample": "generate",
    "sampling": "generate",
    "generate": "generate",
    "generation": "generate",
    "rollout": "generate",
    "rollouts": "generate",
    "score": "reward",
    "scoring": "reward",
    "reward": "reward",
    "rewards": "reward",
    "logprobs": "old_logprob",
    "ref_logprobs": "ref",
    "ref": "ref",
    "train": "update",
    "update": "update",
    "optim": "update",
    "sync": "weight_sync",
    "weight_sync": "weight_sync",
    "eval": "eval",
    "evals": "eval",
    "save": "checkpoint",
    "checkpoint": "checkpoint",
}
"""Phases that hand-written loops time as `time/<name>_s`; the cookbook's own keys have no such ending."""

_EVAL_SCOPES = frozenset(("test", "eval", "val", "validation"))
_EVAL_COUNTS = frozenset(
    ("n_problems", "num_problems", "n_samples", "num_samples", "n_episodes", "num_episodes")
)
_EVAL_ENV = re.compile(r"(?P<scope>.+?)/env/(?P<tag>[^/]+)/(?P<name>.+)")


class Shape(NamedTuple):
    """What rows with the same keys have in common."""

    trains: bool
    """At least one key is one that only a training step has."""
    wanted: tuple[tuple[str, Meaning], ...]
    """The keys that mean something, in the order of the row."""


def shape_of(keys: tuple[str, ...]) -> Shape:
    """The shape of a row. A run has a handful, so that the keys are looked at a handful of times."""
    shape = _SHAPES.get(keys)
    if shape is None:
        meanings = [(key, meaning_of(key)) for key in keys]
        shape = Shape(
            trains=any(_proves_step(key, meaning) for key, meaning in meanings),
            wanted=tuple(pair for pair in meanings if pair[1].kind not in ("plain", "index")),
        )
        if len(_SHAPES) < _SHAPES_REMEMBERED:
            _SHAPES[keys] = shape
    return shape


def _proves_step(key: str, meaning: Meaning) -> bool:
    if meaning.kind == "plain":
        return key not in STEP_KEYS and key != "epoch"
    return meaning.kind in ("train", "alias")


def meaning_of(key: str) -> Meaning:
    """The meaning of a key, by its name alone."""
    known = _MEANINGS.get(key)
    if known is None:
        known = _decide(key)
        if len(_MEANINGS) < _REMEMBERED:
            _MEANINGS[key] = known
    return known


def _decide(key: str) -> Meaning:
    if key == "step":
        return Meaning("index")
    if key in _TRAIN:
        return Meaning("train", _TRAIN[key])
    if key in _ALIASES:
        return Meaning("alias", _ALIASES[key])
    if key in _TIMES:
        return Meaning("time" if key in _PROVES_NO_STEP else "train", key)
    if key in _LEVELS:
        return Meaning("level", key)
    if key.startswith("time/") and key.endswith("_s") and key[5:-2] in _OWN_PHASES:
        return Meaning("train", f"phase/{_OWN_PHASES[key[5:-2]]}")
    return _evaluation(key) or Meaning("plain")


def _evaluation(key: str) -> Meaning | None:
    if key.startswith(("eval/snapshot/", "eval/by_", "eval/completed_", "eval/timing/")):
        return Meaning("beside", "duration_s" if key == "eval/timing/time/total" else "")
    within = _EVAL_ENV.fullmatch(key)
    if within is not None and within["scope"] != "train":
        # Version 0.1 puts `test/` before names that begin with it already when it trains asynchronously.
        scope = within["scope"].removeprefix("test/")
        return Meaning("eval", within["name"], scope) if within["tag"] == "all" else Meaning("beside")
    scope, slash, name = key.partition("/")
    if not slash or scope not in _EVAL_SCOPES:
        return None
    if name in _EVAL_COUNTS:
        return Meaning("eval", "total_episodes", scope)
    if name in ("time_s", "duration_s", "elapsed_s"):
        return Meaning("beside", "duration_s")
    return Meaning("eval", name, scope)


_MEANINGS: dict[str, Meaning] = {}
_SHAPES: dict[tuple[str, ...], Shape] = {}
_SHAPES_REMEMBERED = 500
_REMEMBERED = 20_000
"""Keys remembered at most: a log that makes up a new key for each row must not eat the memory."""
