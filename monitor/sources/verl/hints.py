"""Reads what a veRL log lets slip in plain lines: totals, resumes, checkpoints, names of GPU and model.

Its one rule: one look at one statement; what to make of it is for others to say.
"""

import re
from typing import NamedTuple

TOTAL_STEPS = re.compile(r"\b(?:Total training steps: |total_train_steps )(\d{1,15})")
OPTIMISER_STEPS = re.compile(r"\bTotal steps: (\d{1,15}), num_warmup_steps")
BATCHES = re.compile(r"Size of train dataloader: (\d{1,15})")
RESUMED = re.compile(r"[Ss]etting global step to (\d{1,15})|Resuming from .*global_step_(\d{1,15})")
WORLD = re.compile(r"_world_size_(\d{1,6})_rank_\d+\.pt")
MODEL = re.compile(r"\"_name_or_path\": \"([^\"]+)\"")
ACCELERATOR = re.compile(r"accelerator_type:([\w-]+)")
DEVICE = re.compile(
    r"\bNVIDIA ((?:GeForce |Tesla |Quadro |TITAN )?(?:RTX (?:PRO )?)?(?:[AHBLVTPG][A-Z]?)?\d{1,4}[\w-]*"
    r"(?: (?:\d+GB|HBM\w*|PCIe|NVL|SXM\w*|Ti|SUPER|Ada|Generation|Blackwell|Server|Workstation|Edition))*)"
)
TUNED_FOR = re.compile(r"\bdevice_name=NVIDIA_([A-Za-z0-9][A-Za-z0-9_-]{1,60}?)(?=[,.\s'\"\])]|$)")
"""In the names of the kernel settings that vLLM and SGLang look for."""
WANDB_RUN = re.compile(r"wandb: .*View run (\S+) at")
FINISHED = ("Final validation metrics", "[ASYNC MAIN] Training completed", "Total time for train steps:")


class Hint(NamedTuple):
    """Facts of one statement; None where it has none."""

    total_steps: int | None = None
    optimiser_steps: int | None = None
    batches: int | None = None
    resumed_at: int | None = None
    """The last step that was done before; -1 when training starts from scratch."""
    world_size: int | None = None
    model: str | None = None
    device: str | None = None
    name: str | None = None
    finished: bool = False
    checkpoint: bool = False


def may_hint(text: str) -> bool:
    """A quick look: whether `hint` could find anything."""
    return (
        "otal training steps: " in text
        or "total_train_steps " in text
        or "Total steps: " in text
        or "train dataloader" in text
        or "global step to " in text
        or "Resuming from " in text
        or "Training from scratch" in text
        or "validation metrics" in text
        or "_world_size_" in text
        or "_name_or_path" in text
        or "NVIDIA" in text
        or "accelerator_type:" in text
        or "local_global_step_folder" in text
        or "Saving checkpoint to" in text
        or "View run " in text
        or "Training completed" in text
        or "Total time for train" in text
    )


def device_of(text: str) -> str | None:
    """The GPU that a line names: by Ray's resources, nvidia-smi, or an inference engine."""
    if "NVIDIA" not in text and "accelerator_type:" not in text:
        return None
    found = ACCELERATOR.search(text) or DEVICE.search(text) or TUNED_FOR.search(text)
    return found[1].replace("_", " ") if found else None


def hint(words: str) -> Hint:
    """The facts in a statement."""
    resumed = RESUMED.search(words)
    after = int(resumed[1] or resumed[2]) if resumed else None
    if after is None and "Training from scratch" in words:
        after = -1
    return Hint(
        total_steps=_int(TOTAL_STEPS, words),
        optimiser_steps=_int(OPTIMISER_STEPS, words),
        batches=_int(BATCHES, words),
        resumed_at=after,
        world_size=_int(WORLD, words),
        model=_text(MODEL, words),
        device=device_of(words),
        name=_text(WANDB_RUN, words),
        finished=words.lstrip("(\"' ").startswith(FINISHED),
        checkpoint=words.startswith(("local_global_step_folder", "Saving checkpoint to")),
    )


def _int(pattern: re.Pattern[str], words: str) -> int | None:
    match = pattern.search(words)
    return int(match[1]) if match else None


def _text(pattern: re.Pattern[str], words: str) -> str | None:
    match = pattern.search(words)
    return match[1] if match else None
