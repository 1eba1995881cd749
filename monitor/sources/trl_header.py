"""What the lines around a TRL training say of it: its size, its machine, its model. One line at a time."""

import re
from typing import Any

from ...models.run import RunInfo

COUNTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("total_steps", re.compile(r"Total (?:optimization )?steps = ([\d,]+)")),
    ("gpus", re.compile(r"Num GPUs used = ([\d,]+)")),
    ("max_tokens", re.compile(r"\bmax_completion_length['\"]?\s*[=:]\s*(\d+)")),
    ("max_tokens", re.compile(r"--max[-_]completion[-_]length[ =]+(\d+)")),
    ("max_prompt_tokens", re.compile(r"\bmax_prompt_length['\"]?\s*[=:]\s*(\d+)")),
    ("max_prompt_tokens", re.compile(r"--max[-_]prompt[-_]length[ =]+(\d+)")),
    ("group_size", re.compile(r"\bnum_generations['\"]?\s*[=:]\s*(\d+)")),
    ("group_size", re.compile(r"--num[-_]generations[ =]+(\d+)")),
    ("lora_rank", re.compile(r"--lora[-_](?:rank|r)[ =]+(\d+)")),
    ("save_every", re.compile(r"\bsave_steps['\"]?\s*[=:]\s*(\d+)")),
    ("eval_every", re.compile(r"\beval_steps['\"]?\s*[=:]\s*(\d+)")),
)
MODEL = re.compile(r"--model[-_]name(?:[-_]or[-_]path)?[ =]+([^\s\\'\"]+)")
CARD = re.compile(r"\b(NVIDIA [\w -]{2,60}?)\. Num GPUs = (\d+)\.")
BATCH = re.compile(r"Total (?:train )?batch size \([^)]{1,80}\) = ([\d,]+)")
HINTS = ("=", ":", "--", "NVIDIA")


def info_of_line(text: str) -> RunInfo | None:
    """The facts of one line; None when it has none, which is the rule."""
    if len(text) > 4000 or not any(hint in text for hint in HINTS):
        return None
    known: dict[str, Any] = {}
    for name, pattern in COUNTS:
        match = pattern.search(text)
        if match is not None and (count := int(match[1].replace(",", "") or 0)) > 0:
            known[name] = count
    if match := MODEL.search(text):
        known["model"] = match[1]
    if match := CARD.search(text):
        known["gpu_type"] = match[1].strip()
    return RunInfo.model_validate(known) if known else None


def samples_per_step_of(text: str) -> float | None:
    """Completions that one optimiser step trains on, over all processes."""
    match = BATCH.search(text) if "batch size" in text else None
    return float(match[1].replace(",", "")) if match and match[1].strip(",") else None
