"""Reads a veRL configuration, flattened with dots, into what is known of a run.

Its one rule: a fact is taken by its full path. `n_gpus_per_node`, `nnodes`, `n` and `path` occur many
times in a veRL config, with zeros among them.
"""

from collections.abc import Mapping
from typing import TypeGuard

from ....models.run import ConfigValue, RunInfo

Flat = Mapping[str, ConfigValue]
MODEL = "actor_rollout_ref.model"
ROLLOUT = "actor_rollout_ref.rollout"
SFT_MODELS = ("model.partial_pretrain", "model.path")


def info_of(flat: Flat) -> RunInfo:
    """What a config, whole or in part, tells of the run. Absent keys stay unknown."""
    sft = _is_sft(flat)
    test_freq, save_freq = _int(flat, "trainer.test_freq"), _int(flat, "trainer.save_freq")
    use_kl = [flat[key] for key in _KL if isinstance(flat.get(key), bool)]
    multi_turn = flat.get(f"{ROLLOUT}.multi_turn.enable")
    return RunInfo(
        name=_name(flat),
        model=_model(flat, sft),
        algorithm=_algorithm(flat, sft),
        multi_turn=True if multi_turn is True else None,
        gpus=None if sft else _gpus(flat),
        total_steps=_positive(flat, "trainer.total_training_steps"),
        max_tokens=_positive(flat, "data.max_response_length", f"{ROLLOUT}.response_length"),
        max_prompt_tokens=_positive(flat, "data.max_prompt_length", f"{ROLLOUT}.prompt_length"),
        groups=_positive(flat, "data.train_batch_size"),
        group_size=None if sft else _positive(flat, f"{ROLLOUT}.n"),
        lora_rank=_lora_rank(flat, "model" if sft else MODEL),
        reference_pass=None if len(use_kl) < len(_KL) and True not in use_kl else True in use_kl,
        activation_checkpointing=_bool(
            flat, "model.enable_gradient_checkpointing" if sft else f"{MODEL}.enable_gradient_checkpointing"
        ),
        eval_every=test_freq if test_freq and test_freq > 0 else None,
        # veRL validates on the last step whenever it validates at all.
        eval_at_end=test_freq > 0 if test_freq is not None else None,
        eval_at_start=_bool(flat, "trainer.val_before_train"),
        save_every=save_freq if save_freq and save_freq > 0 else None,
        config=dict(flat),
    )


_KL = ("actor_rollout_ref.actor.use_kl_loss", "algorithm.use_kl_in_reward")


def steps_of(flat: Flat, batches: int | None) -> int | None:
    """Steps planned: those given, or batches per epoch × epochs."""
    given = _positive(flat, "trainer.total_training_steps")
    epochs = _positive(flat, "trainer.total_epochs")
    if given is not None:
        return given
    return batches * epochs if batches and epochs else None


def _is_sft(flat: Flat) -> bool:
    return not any(key.startswith("actor_rollout_ref.") for key in flat) and any(
        key in flat for key in (*SFT_MODELS, "data.micro_batch_size_per_gpu")
    )


def _gpus(flat: Flat) -> int | None:
    """GPUs of the trainer's pool, and of the rollout's and the reward model's where these are apart."""
    each = _positive(flat, "trainer.n_gpus_per_node")
    if each is None:
        return None
    total = each * (_positive(flat, "trainer.nnodes") or 1)
    for pool in ("rollout", ROLLOUT):
        nodes, in_each = _positive(flat, f"{pool}.nnodes"), _positive(flat, f"{pool}.n_gpus_per_node")
        if nodes and in_each:
            total += nodes * in_each
            break
    for pool in ("reward_model", "reward.reward_model"):
        if flat.get(f"{pool}.enable_resource_pool") is True and flat.get(f"{pool}.enable") is not False:
            nodes, in_each = _positive(flat, f"{pool}.nnodes"), _positive(flat, f"{pool}.n_gpus_per_node")
            total += (nodes or 0) * (in_each or 0)
            break
    return total


def _model(flat: Flat, sft: bool) -> str | None:
    for key in SFT_MODELS if sft else (f"{MODEL}.path",):
        value = flat.get(key)
        if isinstance(value, str) and value and "$" not in value:
            return value
    return None


def _name(flat: Flat) -> str | None:
    parts = [flat.get("trainer.project_name"), flat.get("trainer.experiment_name")]
    return "/".join(str(part) for part in parts if part is not None and "$" not in str(part)) or None


def _algorithm(flat: Flat, sft: bool):
    if sft:
        return "sft"
    estimator = flat.get("algorithm.adv_estimator")
    if estimator is None:
        return None
    return "ppo" if str(estimator).lower().endswith("gae") else "rl"


def _lora_rank(flat: Flat, model: str) -> int | None:
    ranks = [
        rank for key in (f"{model}.lora.rank", f"{model}.lora_rank") if (rank := _int(flat, key)) is not None
    ]
    return max(ranks, default=None)


def _positive(flat: Flat, *keys: str) -> int | None:
    for key in keys:
        value = _int(flat, key)
        if value is not None and value > 0:
            return value
    return None


def _int(flat: Flat, key: str) -> int | None:
    value = flat.get(key)
    if _is_number(value) and abs(value) < 1e15 and value == int(value):
        return int(value)
    return None


def _is_number(value: ConfigValue) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _bool(flat: Flat, key: str) -> bool | None:
    value = flat.get(key)
    return value if isinstance(value, bool) else None
