"""Reading the provider's published price list. Pure.

The one rule: an entry without an exact id and its prices is named and left out, and a list without any good
entry is none.
"""

from collections.abc import Mapping
from typing import cast

from pydantic_core import from_json

from .book import PriceRow

PRICES = ("prefill", "cached_prefill", "sample", "train")
"""Keys of an entry: strings such as `$1.87`, dollars per million tokens."""


class RefreshError(Exception):
    """The list could not be fetched or is not one; the message is one line for the user."""


def parse(body: bytes) -> tuple[tuple[PriceRow, ...], tuple[str, ...]]:
    """(rows, names of entries that lack a usable price).

    Raises:
        RefreshError: not a list of objects, or no entry in it has an id and its prices.
    """
    try:
        entries: object = from_json(body, allow_inf_nan=False)
    except ValueError:
        raise RefreshError("the answer is not JSON: kept the prices that we have") from None
    if not isinstance(entries, list):
        raise RefreshError("the answer is not a list of models: kept the prices that we have")
    rows: list[PriceRow] = []
    skipped: list[str] = []
    for number, entry in enumerate(cast("list[object]", entries), start=1):
        said = cast("Mapping[str, object]", entry if isinstance(entry, dict) else {})
        row = _row(said)
        if row is not None:
            rows.append(row)
        else:
            skipped.append(str(said.get("tinker_id") or said.get("name") or f"entry {number}"))
    if not rows:
        raise RefreshError("the answer has no model with its prices: kept the prices that we have")
    return tuple(rows), tuple(skipped)


def _row(entry: Mapping[str, object]) -> PriceRow | None:
    """A row of the book. Prefill and sample must be there; cached prefill and train may not be offered."""
    model = entry.get("tinker_id")
    prefill, cached, sample, train = (_dollars(entry.get(name)) for name in PRICES)
    if not isinstance(model, str) or not model or prefill is None or sample is None:
        return None
    return {"model": model, "prefill": prefill, "prefill_cached": cached, "sample": sample, "train": train}


def _dollars(value: object) -> float | None:
    """`"$1.87"` or 1.87 as a price; None for anything that is not one."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        price = float(value.strip().lstrip("$").replace(",", "")) if isinstance(value, str) else float(value)
    except ValueError:
        return None
    return price if 0 < price < 1e6 else None
