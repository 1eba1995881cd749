"""Fetching the provider's published price list into a folder of dated snapshots.

The one rule: a list is kept only when it is whole and sound. Nothing that a server answers can change a price
that is already there, and without a network the packaged book works as before.
"""

import http.client
import os
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

from pydantic_core import from_json, to_json

from .book import Book, PriceRow, Snapshot, snapshot_from
from .published import RefreshError, parse

URL = "https://tinker-docs.thinkingmachines.ai/tinker/models.json"
"""The training table of Tinker's pricing page, one object per model."""
LARGEST = 2 * 1024 * 1024
"""Bytes; the list is a few kilobytes long."""
PROVIDER = "tinker"


@dataclass(frozen=True, slots=True)
class Change:
    """A price that differs from the book's newest; None where the model was not there, or no longer is."""

    model: str
    meter: str
    before: float | None
    after: float | None

    @property
    def percent(self) -> float | None:
        """By how much the price rose; None where there is nothing to compare."""
        if not self.before or self.after is None:
            return None
        return 100 * (self.after / self.before - 1)


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A new price list, where it was kept, and what it changed."""

    snapshot: Snapshot
    path: Path
    changes: tuple[Change, ...]
    skipped: tuple[str, ...] = ()
    """Names of entries that had no usable prices."""


def refresh(
    folder: Path, book: Book, day: str, version: str, *, url: str = URL, timeout_s: float = 10
) -> Refreshed:
    """Fetch the list, check it, keep it as `folder`/tinker-`day`.json, and tell what changed.

    Args:
        day: today, YYYY-MM-DD: the day from which the list holds for all we know.
        version: ours, for the User-Agent; without one the server answers 403.

    Raises:
        RefreshError: not reachable, no price list, or the folder cannot be written to. Nothing is kept then.
    """
    rows, skipped = parse(download(url, version, timeout_s))
    snapshot = Snapshot(PROVIDER, day, f"{url}, fetched on {day}", rows)
    path = folder / f"{PROVIDER}-{day}.json"
    keep(snapshot, path)
    return Refreshed(snapshot, path, changes(book, snapshot), skipped)


def download(url: str, version: str, timeout_s: float) -> bytes:
    """The body, in `timeout_s` seconds all told; RefreshError when it does not come.

    urllib's own time-out starts anew with each byte, so a server that drips would hold us for ever; hence the
    thread, which is left behind when its time is up.
    """
    answers: SimpleQueue[bytes | RefreshError] = SimpleQueue()
    threading.Thread(target=lambda: answers.put(_fetched(url, version, timeout_s)), daemon=True).start()
    try:
        answer = answers.get(timeout=timeout_s)
    except Empty:
        raise RefreshError(f"{url}: no answer within {timeout_s:g} s") from None
    if isinstance(answer, RefreshError):
        raise answer
    return answer


def _fetched(url: str, version: str, timeout_s: float) -> bytes | RefreshError:
    try:
        request = urllib.request.Request(url, headers={"User-Agent": f"rltop/{version}"})
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            body: bytes = response.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        error.close()
        return RefreshError(f"{url}: the server answered {error.code}")
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        timed_out = isinstance(reason, TimeoutError)
        return RefreshError(f"{url}: {f'no answer within {timeout_s:g} s' if timed_out else reason}")
    if len(body) > LARGEST:
        return RefreshError(f"{url}: longer than {LARGEST // 1024} KiB, so not a price list")
    return body


def keep(snapshot: Snapshot, path: Path) -> None:
    """Write a snapshot whole or not at all: to a file beside it first, which then takes its place."""
    data = {
        "provider": snapshot.provider,
        "effective_from": snapshot.effective_from,
        "source": snapshot.source,
        "notes": list(snapshot.notes),
        "rows": list(snapshot.rows),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".tinker-", suffix=".json")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(to_json(data, indent=2) + b"\n")
            os.replace(beside, path)
        except OSError:
            os.unlink(beside)
            raise
    except OSError as error:
        raise RefreshError(f"{path}: {error.strerror or error}") from None


def kept(folder: Path) -> tuple[tuple[Snapshot, ...], tuple[str, ...]]:
    """(the snapshots of earlier refreshes, one line for each file that is not one)."""
    snapshots: list[Snapshot] = []
    bad: list[str] = []
    for path in sorted(folder.glob(f"{PROVIDER}-*.json")):
        try:
            snapshots.append(_checked(from_json(path.read_bytes())))
        except (OSError, ValueError, KeyError, TypeError):
            bad.append(f"{path}: not a price list, left out")
    return tuple(snapshots), tuple(bad)


def _checked(data: Mapping[str, object]) -> Snapshot:
    """A snapshot all of whose rows are prices; ValueError, KeyError or TypeError when one is not."""
    snapshot = snapshot_from(data, PROVIDER)
    for row in snapshot.rows:
        snapshot.price(row)
    return snapshot


def changes(book: Book, snapshot: Snapshot) -> tuple[Change, ...]:
    """What the list changes against the newest one in the book, models in alphabetical order."""
    before = _by_model(book.snapshots[-1].rows) if book.snapshots else {}
    after = _by_model(snapshot.rows)
    found: list[Change] = []
    for model in sorted(before.keys() | after.keys()):
        for meter in ("prefill", "prefill_cached", "sample", "train"):
            old, new = _price_in(before.get(model), meter), _price_in(after.get(model), meter)
            if old != new:
                found.append(Change(model, meter, old, new))
    return tuple(found)


def _by_model(rows: tuple[PriceRow, ...]) -> dict[str, PriceRow]:
    return {str(row["model"]): row for row in rows}


def _price_in(row: PriceRow | None, meter: str) -> float | None:
    value = row.get(meter) if row is not None else None
    return value if isinstance(value, int | float) else None
