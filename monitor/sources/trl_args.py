"""What the arguments of a TRL trainer say of a run, as trackers keep them.

Its one rule: what no argument says is left open; how many GPUs there are follows from several of them.
"""

import math
from collections.abc import Mapping
from typing import cast

from ...models.run import ConfigValue, RunInfo


def processes_of(args: Mapping[str, ConfigValue]) -> int | None:
    """Processes that train, a GPU each, by the completions that they generate together (TRL from 0.19)."""
    parts = [args.get(key) for key in ("per_device_train_batch_size", "steps_per_generation")]
    together = args.get("generation_batch_size")
    if not isinstance(together, int) or not all(isinstance(part, int) and part > 0 for part in parts):
        return None
    each = math.prod(cast("list[int]", parts))
    return together // each if together >= each and together % each == 0 else None


def completions_of(args: Mapping[str, ConfigValue]) -> float | None:
    """Completions that a step which generates samples, over all processes."""
    parts = [args.get(key) for key in ("per_device_train_batch_size", "gradient_accumulation_steps")]
    processes = processes_of(args)
    if processes is None or not all(isinstance(part, int) and part > 0 for part in parts):
        return None
    # One generation may serve several steps, and then stands in the row of the first of them.
    together = cast("int", args["generation_batch_size"])
    return float(max(together, math.prod(cast("list[int]", parts)) * processes))


def info_of(args: Mapping[str, ConfigValue]) -> RunInfo:
    """The trainer's arguments, in canonical names."""

    def count(name: str) -> int | None:
        value = args.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None

    def words(*names: str) -> str | None:
        return next((found for key in names if isinstance(found := args.get(key), str) and found), None)

    # Those of a server that generates for the trainer are not counted.
    served = args.get("use_vllm") is True and args.get("vllm_mode") == "server"
    processes = None if served else processes_of(args)
    note = (
        f"{processes} training process{'es' if processes != 1 else ''} by generation_batch_size, a GPU each"
    )
    name, beta, checkpointing = args.get("run_name"), args.get("beta"), args.get("gradient_checkpointing")
    return RunInfo(
        name=name if isinstance(name, str) else None,
        model=words("model_name_or_path", "_name_or_path", "peft_config.default.base_model_name_or_path"),
        lora_rank=count("peft_config.default.r"),
        gpus=processes,
        notes=(note,) if processes else (),
        total_steps=count("max_steps"),
        max_tokens=count("max_completion_length"),
        max_prompt_tokens=count("max_prompt_length"),
        group_size=count("num_generations"),
        eval_every=count("eval_steps") if args.get("eval_strategy") == "steps" else None,
        save_every=count("save_steps") if args.get("save_strategy") == "steps" else None,
        reference_pass=beta > 0 if isinstance(beta, int | float) and "num_generations" in args else None,
        activation_checkpointing=checkpointing if isinstance(checkpointing, bool) else None,
        config=dict(args),
    )
