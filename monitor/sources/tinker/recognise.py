"""Tells Tinker runs from others by what their rows say.

The one rule: a file's name proves nothing. Rows of the cookbook have keys that no other trainer writes;
rows of a hand-written loop count only with Tinker's marks in them or beside them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import cast

from pydantic_core import from_json

from ...source import Probe
from .rows import flattened

HEAD_BYTES = 64 * 1024
ROWS_LOOKED_AT = 50
FILES_LOOKED_AT = 40
CERTAIN = 0.95
BY_NEIGHBOURS = 0.8
KEPT_COPY = 0.9
"""What a resume kept of a metrics file: readable, but the file itself says more."""
SEVERAL = 0.3
"""A folder in which metrics of several runs are kept, under other names."""
STARTING = 0.6
"""A run folder before its first row."""

_KEPT = re.compile(r"\.pre_resume_\d+$")
_MARKS = frozenset(
    (
        "progress/done_frac",
        "optim/kl_sample_train_v1",
        "training_client/step",
        "tokens/cumulative/sampled",
        "cost/cumulative_usd",
        "teacher_kl",
        "train_mean_nll",
        "clock_cycle:unique",
    )
)
_MARK_STARTS = ("env/all/", "sdft/", "test/env/all/", "clock_cycle:unique")
_TOGETHER = (
    frozenset(("num_pairs", "dpo_loss")),
    frozenset(("num_pairs", "chosen_reward", "rejected_reward")),
    frozenset(("num_loss_tokens", "num_sequences")),
)
_CONFIG = frozenset(
    ("log_path", "lora_rank", "base_url", "dataset_builder", "load_checkpoint_path", "ttl_seconds")
)


def score(seen: Probe) -> float:
    """0 to 1: how sure it is that this is a Tinker run folder or the metrics of one."""
    if seen.is_dir:
        return folder_score(seen.path, seen.names)
    sure = rows_score(rows_of(seen.head), seen.path.parent)
    return min(sure, KEPT_COPY) if _KEPT.search(seen.path.name) else sure


def folder_score(folder: Path, names: Iterable[str]) -> float:
    """How sure it is that a folder is a Tinker run."""
    names = tuple(names)
    metrics = metrics_in(folder, names)
    if metrics is not None:
        if metrics.name != "metrics.jsonl" and _has_others(folder, names, metrics):
            return SEVERAL
        return rows_score(rows_of(head_of(metrics)), folder)
    if "config.json" not in names or head_of(folder / "metrics.jsonl").strip():
        return 0.0
    return STARTING if _is_starting(folder) else 0.0


def _has_others(folder: Path, names: Iterable[str], metrics: Path) -> bool:
    """Whether the folder holds metrics of further runs: those of one run are called metrics.jsonl."""
    rest = [name for name in names if name.endswith(".jsonl") and name != metrics.name][:FILES_LOOKED_AT]
    return any(rows_score(rows_of(head_of(folder / name)), folder) >= CERTAIN for name in rest)


def metrics_in(folder: Path, names: Iterable[str]) -> Path | None:
    """The file in a folder that holds Tinker metrics; `metrics.jsonl` before others."""
    found = [name for name in names if name.endswith(".jsonl")]
    found.sort(key=lambda name: (name != "metrics.jsonl", "metric" not in name, name))
    for name in found[:FILES_LOOKED_AT]:
        if rows_score(rows_of(head_of(folder / name)), folder) > 0:
            return folder / name
    return None


def rows_score(rows: Iterable[dict[str, object]], folder: Path) -> float:
    """How sure it is that rows are Tinker metrics, with what lies beside them."""
    numeric = False
    for row in rows:
        if _is_another(row):
            return 0.0
        if is_marked(row.keys()):
            return CERTAIN
        numeric |= _is_metrics(row)
    return BY_NEIGHBOURS if numeric and has_tinker_paths(folder) else 0.0


def has_tinker_paths(folder: Path) -> bool:
    """Whether checkpoints beside a file lie on Tinker."""
    return '"tinker://' in head_of(folder / "checkpoints.jsonl")


def rows_of(head: str) -> Iterator[dict[str, object]]:
    """The first rows of a file as flat objects, each made when it is asked for; the last may be cut."""
    for line in head.splitlines()[:ROWS_LOOKED_AT]:
        text = line.strip()
        if not text.startswith("{"):
            continue
        try:
            row: object = from_json(text, allow_partial=True)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield _flat(cast("dict[str, object]", row))


def head_of(path: Path) -> str:
    """The beginning of a file; nothing where it cannot be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            data = file.read(HEAD_BYTES)
    except OSError:
        return ""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _is_another(row: Mapping[str, object]) -> bool:
    """Checkpoints, veRL's file logger, timing spans, or the summary of a W&B run."""
    return (
        isinstance(row.get("state_path"), str)
        or isinstance(row.get("data"), dict)
        or isinstance(row.get("spans"), list)
        or "_wandb" in row
    )


def is_marked(keys: Set[str]) -> bool:
    """Whether these are keys that only rows of the cookbook have."""
    if keys & _MARKS or any(together <= keys for together in _TOGETHER):
        return True
    return any(key.startswith(_MARK_STARTS) for key in keys)


def _is_metrics(row: Mapping[str, object]) -> bool:
    """A step number and at least one more number."""
    step = row.get("step")
    if isinstance(step, bool) or not isinstance(step, int | float):
        return False
    return sum(isinstance(value, int | float) for value in row.values()) > 1


def _is_starting(folder: Path) -> bool:
    """Whether a config is one of the cookbook's, of a run that has logged no row."""
    try:
        config: object = from_json(head_of(folder / "config.json"))
    except ValueError:
        return False
    if not isinstance(config, dict):
        return False
    keys = cast("dict[str, object]", config).keys()
    return "model_name" in keys and "log_path" in keys and len(keys & _CONFIG) >= 3


def _flat(row: dict[str, object]) -> dict[str, object]:
    """With what lies nested: `{"env": {"all": …}}` has the marks of `env/all/…` too."""
    flat = dict(row)
    for key, value in row.items():
        if key != "data":
            flat.update(flattened(key, value))
    return flat
