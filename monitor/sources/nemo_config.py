"""NeMo-RL's printed configuration, flattened with dots, as what is known of a run.

Its one rule: a fact is taken by its full path, and only from the section of the algorithm that runs.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath

from ...models.run import Algorithm, ConfigValue, RunInfo

Flat = Mapping[str, ConfigValue]
ALGORITHMS: dict[str, Algorithm] = {
    "grpo": "rl",
    "ppo": "ppo",
    "distillation": "distill",
    "dpo": "dpo",
    "sft": "sft",
}


def info_of(flat: Flat) -> RunInfo:
    """What the configuration tells. Absent keys stay unknown."""
    section = next((name for name in ALGORITHMS if f"{name}.max_num_steps" in flat), "grpo")
    each, nodes = _count(flat, "cluster.gpus_per_node"), _count(flat, "cluster.num_nodes")
    every = _count(flat, f"{section}.val_period")
    return RunInfo(
        name=_name(flat),
        model=_text(flat, "policy.model_name"),
        teacher_model=_text(flat, "teacher.model_name"),
        algorithm=ALGORITHMS[section] if f"{section}.max_num_steps" in flat else None,
        gpus=each * (nodes or 1) if each else None,
        max_tokens=_count(flat, "policy.generation.max_new_tokens"),
        max_prompt_tokens=_count(flat, "data.max_input_seq_length"),
        groups=_count(flat, f"{section}.num_prompts_per_step"),
        group_size=_count(flat, f"{section}.num_generations_per_prompt"),
        multi_turn=True if (_count(flat, f"{section}.max_rollout_turns") or 1) > 1 else None,
        eval_every=every,
        eval_at_start=_truth(flat, f"{section}.val_at_start"),
        eval_at_end=_truth(flat, f"{section}.val_at_end"),
        save_every=_count(flat, "checkpointing.save_period")
        if flat.get("checkpointing.enabled") is True
        else None,
        config=dict(flat),
    )


def most_steps_of(flat: Flat) -> int | None:
    """The bound on the steps of the whole run."""
    return next((steps for name in ALGORITHMS if (steps := _count(flat, f"{name}.max_num_steps"))), None)


def is_one(flat: Flat) -> bool:
    """Whether these are settings of NeMo-RL."""
    return "policy.model_name" in flat and any(key.startswith("cluster.") for key in flat)


def _name(flat: Flat) -> str | None:
    if flat.get("logger.wandb_enabled") is True and (name := _text(flat, "logger.wandb.name")):
        return name
    folder = _text(flat, "checkpointing.checkpoint_dir")
    return PurePosixPath(folder).name or None if folder else None


def _text(flat: Flat, key: str) -> str | None:
    value = flat.get(key)
    return value if isinstance(value, str) and value else None


def _count(flat: Flat, key: str) -> int | None:
    value = flat.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _truth(flat: Flat, key: str) -> bool | None:
    value = flat.get(key)
    return value if isinstance(value, bool) else None
