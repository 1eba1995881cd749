"""`tinker:RUN_ID`: what Tinker itself tells of a training run.

Its one rule: words are judged here, before anything connects; what Tinker thinks of them is a status.
"""

import re
from collections.abc import Sequence
from importlib.util import find_spec

from ...models.text import printable
from ..reader import Reader
from ..source import Source
from ..target import TargetError
from ..tells import Tells
from .tinker_run import TinkerRest

PREFIX = "tinker:"
TELLS = Tells(
    config="base model, LoRA rank, metadata",
    state="last request; whether it has ended is not told",
)
INSTALL = "asking Tinker needs its SDK: pip install 'rltop[tinker]'"
_RUN = re.compile(r"(?://)?(?P<run>[A-Za-z0-9_][A-Za-z0-9_.:-]*)(?:/.*)?")


def open(target: str) -> Sequence[Source]:
    """The source of a run, named by its id or by the path of one of its checkpoints.

    Raises:
        TargetError: it names no run, or Tinker's SDK is not installed.
    """
    run = run_of(target)
    if find_spec("tinker") is None:
        raise TargetError(f"{PREFIX}{run}: {INSTALL}")
    return (Reader("tinker", TinkerRest(run).read),)


def run_of(target: str) -> str:
    """The id of the run that a target names.

    Raises:
        TargetError: it names none.
    """
    match = _RUN.fullmatch(target.removeprefix(PREFIX))
    if match is None:
        raise TargetError(
            f"{printable(target)}: names no run: give tinker:RUN_ID, such as tinker:0a1b2c3d-…:train:0,"
            " or the path of a checkpoint"
        )
    return match["run"]
