"""The readers that are measured: ours and others'. Its one rule: each says how many steps it has read,
so that none is quick by reading less.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Read = Callable[[Path], int]


@dataclass(frozen=True, slots=True)
class Reader:
    """One way to read one kind of log: a function, or a program that fills a screen."""

    kind: str
    name: str
    prepare: Callable[[], Read] | None = None
    """Imports what is needed and gives the function to be timed."""
    screen: Callable[[Path], list[str]] | None = None
    """The program and its arguments."""
    needs: tuple[str, ...] = ()
    hint: str = ""


def ours() -> Read:
    """Bytes to columns: transport, reader, fold."""
    from rltop.monitor.reduce import reduce
    from rltop.monitor.sources import formats
    from rltop.monitor.state import RunState
    from rltop.monitor.target import open_target

    list(formats())  # imports the readers

    def read(path: Path) -> int:
        state, more = RunState(), True
        sources = open_target(path)
        while more:
            for source in sources:
                for event in source.poll(0.0):
                    state = reduce(state, event)
            more = any(source.more for source in sources)
        for source in sources:
            for event in source.close():
                state = reduce(state, event)
        return len(state.history)

    return read


def ours_priced() -> Read:
    """Bytes to a frame: what `rltop check` and the screen show, with prices, projection and alerts."""
    from rltop.models.settings import Settings
    from rltop.monitor.clock import SystemClock
    from rltop.monitor.money.book import Book
    from rltop.monitor.pipeline import Pipeline
    from rltop.monitor.session import Session
    from rltop.monitor.sources import formats
    from rltop.monitor.target import open_target

    list(formats())

    def read(path: Path) -> int:
        pipeline = Pipeline(Settings(), Book.load())
        return len(Session(open_target(path), pipeline, SystemClock()).read_all().state.history)

    return read


def datastore() -> Read:
    """W&B's own reader of its transaction log, as far as JSON values. wandb up to 0.29 has it."""
    from importlib import import_module
    from json import loads

    store: Any = import_module("wandb.sdk.internal.datastore")
    records: Any = import_module("wandb.proto.wandb_internal_pb2")

    def read(path: Path) -> int:
        scan, columns, steps = store.DataStore(), dict[str, list[float]](), 0
        scan.open_for_scan(str(path))
        while (data := scan.scan_data()) is not None:
            record = records.Record.FromString(data)
            steps += record.HasField("history")
            for item in record.history.item:
                key = ".".join(item.nested_key) or item.key
                columns.setdefault(key, []).append(loads(item.value_json))
        return steps

    return read


def accumulator() -> Read:
    """TensorBoard's own, with all points kept."""
    from importlib import import_module

    module: Any = import_module("tensorboard.backend.event_processing.event_accumulator")

    def read(path: Path) -> int:
        events = module.EventAccumulator(str(path), size_guidance={"scalars": 0, "tensors": 0})
        events.Reload()
        return max(len(events.Scalars(tag)) for tag in events.Tags()["scalars"])

    return read


def tbparse() -> Read:
    """TensorBoard files as a data frame."""
    from importlib import import_module

    module: Any = import_module("tbparse")

    def read(path: Path) -> int:
        return int(module.SummaryReader(str(path)).scalars["step"].nunique())

    return read


def orjson() -> Read:
    """Nothing but parsing: the rows are dropped."""
    from importlib import import_module

    loads: Callable[[bytes], object] = import_module("orjson").loads

    def read(path: Path) -> int:
        with path.open("rb") as file:
            return sum(loads(line) is not None for line in file)

    return read


def standard_json() -> Read:
    """Nothing but parsing, with what Python brings."""
    from json import loads

    def read(path: Path) -> int:
        with path.open("rb") as file:
            return sum(loads(line) is not None for line in file)

    return read


def text_lines() -> Read:
    """Nothing but lines, and a look whether they hold a step."""

    def read(path: Path) -> int:
        with path.open(encoding="utf-8") as file:
            return sum("step:" in line for line in file)

    return read


def text_floats() -> Read:
    """The least that a script does to plot such a log: split step lines and convert."""

    def read(path: Path) -> int:
        columns: dict[str, list[float]] = {}
        with path.open(encoding="utf-8") as file:
            for line in file:
                if "step:" not in line:
                    continue
                for piece in line[line.index("step:") :].split(" - "):
                    key, _, number = piece.rpartition(":")
                    columns.setdefault(key, []).append(float(number))
        return len(columns["step"])

    return read


def _beside(program: str) -> str:
    return os.path.join(os.path.dirname(sys.executable), program)


def leet(path: Path) -> list[str]:
    """W&B's own screen."""
    return [_beside("wandb"), "leet", "run", str(path)]


def rltop(path: Path) -> list[str]:
    """Ours."""
    return [_beside("rltop"), str(path)]


COLUMNS, FRAME = "rltop, into columns", "rltop, to a frame (prices, alerts)"
READERS = (
    Reader("wandb", f"{COLUMNS} (wandb)", ours),
    Reader("wandb", f"{FRAME}", ours_priced),
    Reader("wandb", "rltop, the screen filled", screen=rltop),
    Reader("wandb", "W&B LEET, the screen filled", screen=leet, needs=("wandb",)),
    Reader(
        "wandb",
        "wandb's DataStore, into lists",
        datastore,
        needs=("wandb.sdk.internal.datastore",),
        hint="wandb has no DataStore from 0.30 on",
    ),
    Reader("tensorboard", f"{COLUMNS} (tensorboard)", ours),
    Reader("tensorboard", "EventAccumulator", accumulator, needs=("tensorboard",)),
    Reader("tensorboard", "tbparse", tbparse, needs=("tbparse",)),
    Reader("jsonl", f"{COLUMNS} (jsonl)", ours),
    Reader("jsonl", "orjson, rows dropped (jsonl)", orjson, needs=("orjson",)),
    Reader("jsonl", "json, rows dropped (jsonl)", standard_json),
    Reader("file logger", f"{COLUMNS} (file logger)", ours),
    Reader("file logger", "orjson, rows dropped (file logger)", orjson, needs=("orjson",)),
    Reader("console", f"{COLUMNS} (console)", ours),
    Reader("console", "for line in file", text_lines),
    Reader("console", "split and float()", text_floats),
)
