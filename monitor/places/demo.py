"""`demo:NAME`: a built-in run, wherever a target is taken.

Its one rule: what one knows of such a run that its log does not say is told as a fact of the run, so that
every command knows it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from ...models.run import RunInfo
from ...models.text import printable
from ..known import KnownSource
from ..source import Source
from ..target import TargetError, open_target

PREFIX = "demo:"
RUNS = ("gsm8k-tinker", "math-tinker", "math-verl")
REMARK = "a demo, reconstructed from the published totals of a real run"
_BEGAN_AT = datetime(2026, 1, 5, tzinfo=UTC).timestamp()
"""When the runs were made; their prices are of that day."""
_GPU_TYPES = {"math-verl": "B200"}


def open(target: str) -> Sequence[Source]:
    """The sources of a built-in run.

    Raises:
        TargetError: there is none of this name.
    """
    name = target.removeprefix(PREFIX)
    if name not in RUNS:
        raise TargetError(f"{printable(target)}: no such demo; there are {', '.join(RUNS)}")
    folder = Path(str(files("rltop.monitor.demo"))) / "data" / name
    known = RunInfo(started_at=_BEGAN_AT, gpu_type=_GPU_TYPES.get(name), notes=(REMARK,))
    return (KnownSource(known), *open_target(folder))
