"""Tinker's billing usage, asked for through Tinker's own SDK.

The one rule: whatever goes wrong becomes one line that says what to do.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..tinkersdk import SdkError, ask, spare_telemetry
from .reconcile import DAY_S, UsageMeter, UsageRow

if TYPE_CHECKING:
    from tinker.types import BillingUsageEvent

LONGEST_S = 14 * DAY_S
"""The longest window that one request may ask about."""
NOT_INSTALLED = "reconciling needs Tinker's SDK: pip install 'rltop[tinker]'"
TOO_OLD = "this Tinker SDK cannot ask for billing usage: pip install --upgrade tinker"
FORBIDDEN = "this key may not see the bill: that takes the role of admin or billing admin at Tinker"


class UsageError(Exception):
    """The usage cannot be had; the message is one line."""


def fetch_usage(
    start: float, end: float, timeout_s: float, base_url: str | None = None
) -> tuple[UsageRow, ...]:
    """All usage of the caller's organisation from `start` to before `end` (unix s, whole hours).

    The key is the SDK's own matter (`TINKER_API_KEY`, or what `tinker auth login` has stored).

    Raises:
        UsageError: no SDK, key, right or answer.
    """
    spare_telemetry()
    try:
        import tinker  # half a second, and an extra: only this command pays for it
    except ImportError:
        raise UsageError(NOT_INSTALLED) from None
    if not hasattr(tinker, "AdminClient"):
        raise UsageError(TOO_OLD)

    def usage() -> list[UsageRow]:
        client = tinker.AdminClient(base_url=base_url)
        rows: list[UsageRow] = []
        for since, until in windows(start, end):
            answer = client.get_billing_usage(_moment(since), _moment(until)).result()
            rows += [row for event in answer.data if (row := row_of(event)) is not None]
        return rows

    try:
        return tuple(ask(timeout_s, usage, FORBIDDEN))
    except SdkError as error:
        raise UsageError(str(error)) from None


def windows(start: float, end: float) -> Sequence[tuple[float, float]]:
    """The span in pieces that one request may ask about."""
    pieces: list[tuple[float, float]] = []
    while start < end:
        pieces.append((start, min(end, start + LONGEST_S)))
        start += LONGEST_S
    return pieces


def row_of(event: "BillingUsageEvent") -> UsageRow | None:
    """An event of the SDK as ours; None for free storage, which costs nobody anything."""
    info = event.event_info
    meter: UsageMeter
    match info.type:
        case "training":
            meter, quantity = "train", info.token_count
        case "sampling_sample":
            meter, quantity = "sample", info.token_count
        case "sampling_prefill":
            meter, quantity = "prefill_cached" if info.cached else "prefill", info.token_count
        case "checkpoint":
            meter, quantity = "checkpoint", info.count
        case "storage":
            if info.free:
                return None
            meter, quantity = "storage", info.gigabyte_hours
    return UsageRow(
        start=event.bucket_start.timestamp(),
        end=event.bucket_end.timestamp(),
        meter=meter,
        quantity=float(quantity),
        usd=event.estimated_cost_usd,
        session_id=event.session_id,
    )


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
