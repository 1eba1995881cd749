"""What W&B writes beside a run's log: files/wandb-metadata.json, with the machine that it ran on.

Its one rule: it is looked at until it is there, once. Clients before 0.20 tell the machine nowhere else.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import cast

from pydantic_core import from_json

from ...models.event import Event
from .wandb_stats import Hardware

METADATA = Path("files") / "wandb-metadata.json"
LARGEST_BYTES = 4 * 1024 * 1024


class WandbFilesSource:
    """Tells of the machine in the folder of a run."""

    more = False

    def __init__(self, folder: Path) -> None:
        self._waited_for: Path | None = folder / METADATA

    def poll(self, now: float) -> list[Event]:
        """The machine, once it is told."""
        path = self._waited_for
        if path is None:
            return []
        try:
            if path.stat().st_size > LARGEST_BYTES:
                return []
            told: object = from_json(path.read_bytes())
        except (OSError, ValueError):
            return []
        self._waited_for = None
        return list(_machine(told))

    def close(self) -> list[Event]:
        """Nothing is held back."""
        return []


def _machine(told: object) -> Iterable[Event]:
    return Hardware().learn_named(cast("dict[str, object]", told)) if isinstance(told, dict) else ()
