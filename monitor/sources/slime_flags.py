"""What SLiME's command line says of a run.

Its one rule: a default that the line does not name is not assumed, but for the two that slime's own
GPU layout is built on.
"""

import re
import shlex
from typing import Any

from ...models.run import ConfigValue, RunInfo
from .verl.scalar import scalar

ENTRYPOINT = re.compile(r"Running entrypoint for job [\w-]+: (?P<command>.*)")
ARGUMENT = re.compile(r"(?:^|\s)([a-z]\w{1,80}) \.{3,} (\S.{0,300})$")
"""A line of the table of arguments that Megatron prints; longer names have three dots."""
TABLE = re.compile(r"-{8,} (end of )?arguments -{8,}")
TOLD = frozenset(
    {
        *("num_rollout", "rollout_batch_size", "n_samples_per_prompt", "global_batch_size", "colocate"),
        *("rollout_max_response_len", "rollout_max_prompt_len", "eval_interval", "save_interval"),
        *("actor_num_nodes", "actor_num_gpus_per_node", "rollout_num_gpus", "hf_checkpoint"),
        *("advantage_estimator", "use_kl_loss", "kl_coef", "kl_loss_coef", "recompute_granularity", "lr"),
    }
)
"""Of some 1,300 arguments those that say something here."""
FULL_GPU_NODE = 8
"""slime's default of --actor-num-gpus-per-node; --actor-num-nodes defaults to 1."""


def flags_of(command: str) -> dict[str, ConfigValue]:
    """The flags of a command line, dashes as underscores. A flag without a value is True."""
    try:
        words = shlex.split(command)
    except ValueError:  # an unclosed quote, where the line was cut
        words = command.split()
    flags: dict[str, ConfigValue] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            name = name.replace("-", "_")
            flags[name] = scalar(value) if equals else True
            name = "" if equals else name
        elif name:
            # Further words of a list, such as the data sets of --eval-prompt-data, are left out.
            flags[name] = scalar(word)
            name = ""
    return flags


def info_of(flags: dict[str, ConfigValue]) -> RunInfo:
    """What the flags say, in canonical names."""
    known: dict[str, Any] = {
        "total_steps": _whole(flags, "num_rollout"),
        "groups": _whole(flags, "rollout_batch_size"),
        "group_size": _whole(flags, "n_samples_per_prompt"),
        "max_tokens": _whole(flags, "rollout_max_response_len"),
        "max_prompt_tokens": _whole(flags, "rollout_max_prompt_len"),
        "eval_every": _whole(flags, "eval_interval"),
        "save_every": _whole(flags, "save_interval"),
        "gpus": _gpus(flags),
        "model": _model(flags),
    }
    if flags.get("advantage_estimator") == "ppo":
        known["algorithm"] = "ppo"
    if flags.get("use_kl_loss") or flags.get("kl_coef"):
        known["reference_pass"] = True
    if flags.get("recompute_granularity"):
        known["activation_checkpointing"] = True
    return RunInfo.model_validate(
        {name: value for name, value in known.items() if value is not None} | {"config": flags}
    )


def samples_of(info: RunInfo) -> int | None:
    """Responses per rollout, as configured."""
    return info.groups * info.group_size if info.groups and info.group_size else None


def train_steps_of(info: RunInfo) -> int | None:
    """Train steps per rollout: the samples of a rollout over those of a train step."""
    batch = info.config.get("global_batch_size")
    samples = samples_of(info)
    if not isinstance(batch, int) or batch <= 0 or samples is None:
        return None
    return max(1, samples // batch)


def _whole(flags: dict[str, ConfigValue], name: str) -> int | None:
    value = flags.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _gpus(flags: dict[str, ConfigValue]) -> int | None:
    """GPUs by slime's own layout; None when the flags do not speak of GPUs at all."""
    if not any(name in flags for name in ("actor_num_nodes", "actor_num_gpus_per_node", "rollout_num_gpus")):
        return None
    nodes = _whole(flags, "actor_num_nodes") or 1
    actor = nodes * (_whole(flags, "actor_num_gpus_per_node") or FULL_GPU_NODE)
    rollout = _whole(flags, "rollout_num_gpus")
    if flags.get("colocate"):
        return max(actor, rollout or actor)
    return None if rollout is None else actor + rollout


def _model(flags: dict[str, ConfigValue]) -> str | None:
    path = flags.get("hf_checkpoint")
    if not isinstance(path, str) or not path.strip("/"):
        return None
    parts = path.strip("/").split("/")
    # A hub id is kept whole; of a folder only its name says what the model is.
    return path if len(parts) == 2 and not path.startswith(("/", ".", "~")) else parts[-1]
