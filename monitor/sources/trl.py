"""TRL and what wraps it (Unsloth, Axolotl, ms-swift): which of its files a target is, and what reads it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ..filesource import FileSource
from ..source import Format, Probe, Source
from ..transport import open_transport
from .keymap import TRL, tells_of
from .pyrepr import numbers, read_dict
from .trl_console import ROW, TrlConsoleParser
from .trl_rows import SUMMARY, is_training
from .trl_state import CHECKPOINT, NAME, TrainerStateSource
from .trl_swift import STEP_OF, SwiftParser

Kind = Literal["state", "swift", "console"]
LOOK_BYTES = 256 * 1024
MOST_LOOKED_AT = 50
BESIDE = frozenset({"epoch", "learning_rate", "num_tokens", "completions/mean_length", "completion_length"})
"""Every row has one of these beside its loss or reward."""
STATE = re.compile(r'^\s*\{.*?"(?:log_history|is_hyper_param_search|best_model_checkpoint)"\s*:', re.DOTALL)
HEADER = re.compile(r"Unsloth - 2x faster|\*\*\*\*\* Running training \*\*\*\*\*|GRPOTrainer\b")


def kind_of(text: str) -> Kind | None:
    """What a file of the family is, by its beginning or end."""
    if text.lstrip().startswith("{") and f'"{STEP_OF}"' in text:
        return "swift"
    if STATE.match(text[:4096]):
        return "state"
    return "console" if has_rows(text) or HEADER.search(text) else None


def has_rows(text: str) -> bool:
    """Whether a trainer's rows are printed in a text; that a dict has one of its keys is not enough."""
    for index, match in enumerate(ROW.finditer(text)):
        read = read_dict(text, match.start())
        values = numbers(read[0]) if read else {}
        if SUMMARY in values or (is_training(values) and not values.keys().isdisjoint(BESIDE)):
            return True
        if index >= MOST_LOOKED_AT:
            break
    return False


def _score(probe: Probe) -> float:
    if probe.is_dir:
        if NAME in probe.names:
            return 0.7
        saved = any(
            name.startswith(CHECKPOINT) and (probe.path / name / NAME).is_file() for name in probe.names
        )
        return 0.7 if saved else 0.0
    kind = kind_of(probe.head) or kind_of(probe.tail)
    if kind in ("state", "swift"):
        return 0.9
    if kind is None:
        return 0.0
    return 0.7 if has_rows(probe.head) or has_rows(probe.tail) else 0.4


def _open(path: Path) -> Sequence[Source]:
    if path.is_dir():
        return [TrainerStateSource(path)]
    with open(path, "rb") as file:
        kind = kind_of(file.read(LOOK_BYTES).decode("utf-8", "replace"))
    if kind == "state":
        return [TrainerStateSource(path)]
    return [FileSource(open_transport(path), SwiftParser() if kind == "swift" else TrlConsoleParser())]


TELLS = tells_of(
    TRL,
    steps="`global_step`, progress bar",
    total="`max_steps`, header, bar",
    tokens="differences of `num_tokens`",
    gpus="header (Unsloth)",
    config="arguments in the header",
    state="last row, traceback",
)
FORMAT = Format(name="TRL trainer state, logging.jsonl or console", score=_score, open=_open, tells=TELLS)
