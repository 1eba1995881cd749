"""TRL and its kin (Unsloth, Axolotl, ms-swift, LLaMA-Factory): which file a target is, and its reader."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ..filesource import FileSource
from ..source import Format, Probe, Source
from ..transport import open_transport
from .keymap import TRL, tells_of
from .pyrepr import numbers, read_dict
from .trl_beside import RunFilesSource
from .trl_console import ROW, TrlConsoleParser
from .trl_jsonl import FACTORY_STEP, SWIFT_STEP, TrlJsonlParser, is_rows
from .trl_rows import SUMMARY, is_training
from .trl_state import HISTORY, NAME, TrainerStateSource, is_history, newest_state

Kind = Literal["state", "rows", "console"]
LOOK_BYTES = 256 * 1024
MOST_LOOKED_AT = 50
ROWS_FILES = ("logging.jsonl", "trainer_log.jsonl")
"""As ms-swift and LLaMA-Factory call them."""
BESIDE = frozenset(
    {"epoch", "learning_rate", "num_tokens", "completions/mean_length", "completion_length", "objective/kl"}
)
"""Every row has one of these beside its loss or reward."""
STATE = re.compile(r'^\s*\{.*?"(?:log_history|is_hyper_param_search|best_model_checkpoint)"\s*:', re.DOTALL)
HEADER = re.compile(r"Unsloth - 2x faster|\*\*\*\*\* Running training \*\*\*\*\*|GRPOTrainer\b")


def kind_of(text: str) -> Kind | None:
    """What a file of the family is, by its beginning or end."""
    if is_rows(text):
        return "rows"
    if STATE.match(text[:4096]) or is_history(text):
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
        if _rows_file(probe.path, probe.names) is not None:
            return 0.72
        return 0.7 if newest_state(probe.path).is_file() else 0.0
    kind = kind_of(probe.head) or kind_of(probe.tail)
    if kind is None or (kind == "console" and HISTORY.match(probe.head)):
        return 0.0
    if kind == "state":
        return 0.9
    if kind == "rows":
        return 0.9 if f'"{SWIFT_STEP}"' in probe.head or f'"{FACTORY_STEP}"' in probe.head else 0.5
    return 0.7 if has_rows(probe.head) or has_rows(probe.tail) else 0.4


def _open(path: Path) -> Sequence[Source]:
    if path.is_dir():
        rows = _rows_file(path, os.listdir(path))
        if rows is None:
            beside = newest_state(path).parent
            return [TrainerStateSource(path), RunFilesSource(beside)]
        return [FileSource(open_transport(rows), TrlJsonlParser()), RunFilesSource(path)]
    with open(path, "rb") as file:
        kind = kind_of(file.read(LOOK_BYTES).decode("utf-8", "replace"))
    if kind == "state":
        return [TrainerStateSource(path), RunFilesSource(path.parent)]
    if kind == "rows":
        return [FileSource(open_transport(path), TrlJsonlParser()), RunFilesSource(path.parent)]
    return [FileSource(open_transport(path), TrlConsoleParser())]


def _rows_file(folder: Path, names: Sequence[str]) -> Path | None:
    """The rows in a run's folder: they come step by step, where a state comes with a checkpoint."""
    for name in ROWS_FILES:
        if name in names:
            try:
                with open(folder / name, "rb") as file:
                    head = file.read(LOOK_BYTES).decode("utf-8", "replace")
            except OSError:
                continue
            if is_rows(head):
                return folder / name
    return None


TELLS = tells_of(
    TRL,
    steps="`global_step`, progress bar",
    total="`max_steps`, header, bar",
    tokens="differences of `num_tokens`",
    gpus="header (Unsloth), args.json (ms-swift)",
    time="`step_time`, progress bar, `elapsed_time`, `train_runtime`",
    config="header, args.json, adapter_config.json",
    state="last row, traceback",
)
FORMAT = Format(
    name="TRL trainer state, JSON rows or console",
    score=_score,
    open=_open,
    tells=TELLS,
    reads=(NAME, *ROWS_FILES),
)
