"""What can be read: the registry of formats, and how a target is recognised and opened.

Formats are named here as text and imported when a target is looked at, so that `--help` costs nothing.
Third parties add theirs under the entry-point group `rltop.sources`.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from ..source import Format

BUILT_IN = (
    "..recorder:FORMAT",
    ".tinker:FORMAT",
    ".tinker.console:FORMAT",
    ".verl:CONSOLE",
    ".verl:FILE_LOGGER",
    ".verl:FOLDER",
    ".slime:FORMAT",
    ".trl:FORMAT",
    ".train_console:FORMAT",
    ".train_bar:FORMAT",
    ".prime_rl:FORMAT",
    ".nemo_rl:FORMAT",
    ".openrlhf:FORMAT",
    ".skyrl:FORMAT",
    ".areal:FORMAT",
    ".roll:FORMAT",
    ".wandb_local:FORMAT",
    ".swanlab:FORMAT",
    ".tensorboard:FORMAT",
    ".trackio:FORMAT",
    ".mlflow:FORMAT",
    ".jsonl:FORMAT",
    ".json_rows:FORMAT",
    ".csv_rows:FORMAT",
)
GROUP = "rltop.sources"


def formats() -> Iterator[Format]:
    """All known formats, ours first."""
    for name in BUILT_IN:
        module, _, attribute = name.partition(":")
        yield getattr(import_module(module, __name__), attribute)
    yield from _third_parties()


@cache
def _third_parties() -> tuple[Format, ...]:
    """Looked up once: it reads the metadata of every installed package."""
    loaded = (entry.load() for entry in entry_points(group=GROUP))
    return tuple(form for form in loaded if isinstance(form, Format))


def third_parties() -> list[str]:
    """Which formats of third parties there are, and of which version: nothing is loaded."""
    return sorted(
        f"{entry.name} {entry.value} {entry.dist.version if entry.dist is not None else ''}"
        for entry in entry_points(group=GROUP)
    )
