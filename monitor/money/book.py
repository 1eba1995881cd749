"""The price book: dated token prices and GPU prices, each with its source.

The one rule: a price that is not in the book is None; nothing is matched by likeness.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pydantic_core import from_json

from ...models.money import GpuPrice, PriceBookRef, TokenPrice
from .gpus import GpuTable

DATA = Path(__file__).with_name("data")

PriceRow = Mapping[str, object]
"""`model`; `prefill`, `prefill_cached`, `sample`, `train` in dollars per million tokens, null where unknown;
`source` where it is not that of the whole list."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A provider's whole price list as it was from one day on."""

    provider: str
    effective_from: str
    """YYYY-MM-DD."""
    source: str
    rows: tuple[PriceRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def ref(self) -> PriceBookRef:
        return PriceBookRef(date=self.effective_from, source=self.source)

    def price(self, row: PriceRow, note: str = "") -> TokenPrice:
        """A row as a value; ValidationError when it lacks a price that every model has."""
        return TokenPrice.model_validate(
            {
                **row,
                "provider": self.provider,
                "effective_from": self.effective_from,
                "source": row.get("source", self.source),
                "note": note,
            }
        )


@dataclass(frozen=True, slots=True)
class Book:
    """All price lists, oldest first, and the GPU table. Rows become values only when asked for."""

    snapshots: tuple[Snapshot, ...]
    gpu_table: GpuTable
    storage_usd_per_gb_month: float | None = None
    _by_model: dict[str, list[tuple[Snapshot, PriceRow]]] = field(
        default_factory=dict[str, list[tuple[Snapshot, PriceRow]]], repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for snapshot in self.snapshots:
            for row in snapshot.rows:
                self._by_model.setdefault(str(row["model"]), []).append((snapshot, row))

    @staticmethod
    def load() -> "Book":
        """The book that comes with rltop: works offline, never changed by a refresh."""
        return _packaged()

    def with_snapshots(self, more: Iterable[Snapshot]) -> "Book":
        """This book and further price lists; a list of the same provider and day replaces ours."""
        merged = {(s.provider, s.effective_from): s for s in self.snapshots}
        merged |= {(s.provider, s.effective_from): s for s in more}
        ordered = sorted(merged.values(), key=lambda snapshot: snapshot.effective_from)
        return replace(self, snapshots=tuple(ordered), _by_model={})

    @property
    def refs(self) -> tuple[PriceBookRef, ...]:
        """The price lists in the book, oldest first."""
        return tuple(snapshot.ref for snapshot in self.snapshots)

    def token_price(self, model: str, at: float | None = None, date: str | None = None) -> TokenPrice | None:
        """The price of exactly this model id, context tier included, or None.

        `date` (YYYY-MM-DD) beats `at` (unix s); with neither, the newest price. The list in force is
        the last one that began by then. Where it lacks the model, or none had begun yet, the nearest
        list that has it is used, and `note` says so.
        """
        rows = self._by_model.get(model)
        if not rows:
            return None
        day = date or (day_of(at) if at is not None else None)
        if day is None:
            snapshot, row = rows[-1]
            return snapshot.price(row, "the time of the run is not known: the newest price is used")
        begun = [pair for pair in rows if pair[0].effective_from <= day]
        if not begun:
            snapshot, row = rows[0]
            first = snapshot.effective_from
            return snapshot.price(row, f"no price of {model} is known before {first}: that one is used")
        snapshot, row = begun[-1]
        in_force = self.in_force(day)
        if in_force is None or in_force.effective_from == snapshot.effective_from:
            return snapshot.price(row)
        return snapshot.price(
            row,
            f"{model} is not in the price list of {in_force.effective_from}: "
            f"the one of {snapshot.effective_from} is used",
        )

    def in_force(self, day: str) -> Snapshot | None:
        """The last price list that began by `day` (YYYY-MM-DD)."""
        begun = [snapshot for snapshot in self.snapshots if snapshot.effective_from <= day]
        return begun[-1] if begun else None

    def models(self) -> tuple[str, ...]:
        """Every model id that has a price in some list, sorted."""
        return tuple(sorted(self._by_model))

    def history(self, model: str) -> tuple[TokenPrice, ...]:
        """All prices of a model, oldest first."""
        return tuple(snapshot.price(row) for snapshot, row in self._by_model.get(model, ()))

    def gpu(self, name: str) -> GpuPrice | None:
        """The row for a short name or a device string such as `NVIDIA H100 80GB HBM3`, or None."""
        return self.gpu_table.find(name)


def day_of(at: float) -> str:
    """The UTC day of a unix time, YYYY-MM-DD."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def snapshot_from(data: Mapping[str, object], provider: str) -> Snapshot:
    """A price list as stored in a file; KeyError or TypeError when it is not one."""
    rows, notes = data["rows"], data.get("notes", ())
    if not isinstance(rows, list) or not isinstance(notes, list | tuple):
        raise TypeError("rows and notes must be lists")
    return Snapshot(
        provider=str(data.get("provider", provider)),
        effective_from=str(data["effective_from"]),
        source=str(data["source"]),
        rows=tuple(row for row in rows if isinstance(row, dict)),  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        notes=tuple(str(note) for note in notes),  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    )


@cache
def _packaged() -> Book:
    tinker = from_json((DATA / "tinker.json").read_bytes())
    gpus = from_json((DATA / "gpus.json").read_bytes())
    return Book(
        snapshots=tuple(snapshot_from(data, tinker["provider"]) for data in tinker["snapshots"]),
        gpu_table=GpuTable(tuple(gpus["rows"])),
        storage_usd_per_gb_month=tinker["storage_usd_per_gb_month"],
    )
