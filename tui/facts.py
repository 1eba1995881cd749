"""All that is known of a run as a whole, and who says so: the user, the log, or a table of ours. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

from ..models import text
from ..models.run import RunInfo
from ..models.text import printable
from ..monitor.frame import Frame


class Fact(NamedTuple):
    """One thing known, in words, and where from."""

    name: str
    value: str
    origin: str


FACTS = {
    "framework": "framework",
    "framework_version": "its version",
    "name": "run",
    "model": "model",
    "teacher_model": "teacher",
    "platform": "billed by",
    "algorithm": "algorithm",
    "multi_turn": "multi-turn",
    "gpus": "GPUs",
    "gpu_type": "GPU type",
    "total_steps": "steps",
    "first_step": "first step",
    "max_tokens": "cap on a response, tokens",
    "max_prompt_tokens": "cap on a prompt, tokens",
    "groups": "prompts a step",
    "group_size": "rollouts a prompt",
    "lora_rank": "LoRA rank",
    "reference_pass": "reference pass",
    "activation_checkpointing": "activation checkpointing",
    "eval_every": "evaluation every, steps",
    "eval_at_start": "evaluation at the start",
    "eval_at_end": "evaluation at the end",
    "save_every": "checkpoint every, steps",
    "session_id": "session",
}
YOURS, LOG, TABLE = "you", "log", "table"
MINE = ("total_steps", "max_tokens", "model", "gpus", "gpu_type")
"""What a user may know better than the log."""


def facts(frame: Frame) -> Iterator[Fact]:
    """The facts of the run, those that only the user knows, and the price list."""
    for name, words in FACTS.items():
        value = getattr(frame.info, name)
        given = name in MINE and getattr(frame.settings, name) is not None
        if value is not None:
            yield Fact(words, _written(value), YOURS if given else LOG)
    settings, bill = frame.settings, frame.bill
    if settings.budget_usd is not None:
        yield Fact("budget", text.usd(settings.budget_usd), YOURS)
    if settings.usd_per_gpu_hour is not None:
        yield Fact("price of a GPU-hour", text.usd(settings.usd_per_gpu_hour), YOURS)
    if settings.token_rates is not None:
        rates = settings.token_rates
        named = (("prefill", rates.prefill), ("sample", rates.sample), ("train", rates.train))
        words = ", ".join(f"{name} {text.usd(usd)}" for name, usd in named)
        yield Fact("prices of a million tokens", words, YOURS)
    if bill.price_book is not None:
        yield Fact("price list", f"{bill.price_book.date}: {printable(bill.price_book.source)}", TABLE)
    for status in frame.state.sources.values():
        words = f"{text.integer(status.lines)} lines" if status.lines else status.state
        yield Fact(f"{printable(status.source)}", f"{printable(status.path)} · {words}", "file")


def configured(info: RunInfo) -> Iterator[Fact]:
    """The configuration that the run itself has printed or saved, by key."""
    for key in sorted(info.config):
        yield Fact(printable(key), _written(info.config[key]), LOG)


def _written(value: object) -> str:
    if value is None:
        return text.UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return printable(str(value))
