"""TRL and what wraps it (Unsloth, Axolotl, ms-swift): which of its files a target is, and what reads it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ..filesource import FileSource
from ..source import Format, Probe, Source
from ..transport import open_transport
from .trl_console import ROW, TrlConsoleParser
from .trl_state import CHECKPOINT, NAME, TrainerStateSource
from .trl_swift import STEP_OF, SwiftParser

Kind = Literal["state", "swift", "console"]
LOOK_BYTES = 256 * 1024
STATE = re.compile(r'^\s*\{.*?"(?:log_history|is_hyper_param_search|best_model_checkpoint)"\s*:', re.DOTALL)
HEADER = re.compile(r"Unsloth - 2x faster|\*\*\*\*\* Running training \*\*\*\*\*|GRPOTrainer\b")


def kind_of(text: str) -> Kind | None:
    """What a file of the family is, by its beginning or end."""
    if text.lstrip().startswith("{") and f'"{STEP_OF}"' in text:
        return "swift"
    if STATE.match(text[:4096]):
        return "state"
    return "console" if ROW.search(text) or HEADER.search(text) else None


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
    return 0.7 if ROW.search(probe.head) or ROW.search(probe.tail) else 0.4


def _open(path: Path) -> Sequence[Source]:
    if path.is_dir():
        return [TrainerStateSource(path)]
    with open(path, "rb") as file:
        kind = kind_of(file.read(LOOK_BYTES).decode("utf-8", "replace"))
    if kind == "state":
        return [TrainerStateSource(path)]
    return [FileSource(open_transport(path), SwiftParser() if kind == "swift" else TrlConsoleParser())]


FORMAT = Format(name="TRL trainer state, logging.jsonl or console", score=_score, open=_open)
