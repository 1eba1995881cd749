"""Tinker's billing usage, asked for through Tinker's own SDK.

The one rule: whatever goes wrong becomes one line that says what to do. The SDK retries for minutes and waits
for an hour where an account is behind with its bills, so an answer is only waited for so long.
"""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from threading import Event, Thread
from typing import TYPE_CHECKING

from .reconcile import DAY_S, UsageMeter, UsageRow

if TYPE_CHECKING:
    from tinker.types import BillingUsageEvent

LONGEST_S = 14 * DAY_S
"""The longest window that one request may ask about."""
NOT_INSTALLED = "reconciling needs Tinker's SDK: pip install 'rltop[tinker]'"
TOO_OLD = "this Tinker SDK cannot ask for billing usage: pip install --upgrade tinker"


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
    # Looking at a bill is nothing to report on; whoever wants telemetry has the variable set.
    os.environ.setdefault("TINKER_TELEMETRY", "0")
    try:
        import tinker  # half a second, and an extra: only this command pays for it
    except ImportError:
        raise UsageError(NOT_INSTALLED) from None
    if not hasattr(tinker, "AdminClient"):
        raise UsageError(TOO_OLD)

    def ask() -> list[UsageRow]:
        client = tinker.AdminClient(base_url=base_url)
        rows: list[UsageRow] = []
        for since, until in windows(start, end):
            answer = client.get_billing_usage(_moment(since), _moment(until)).result()
            rows += [row for event in answer.data if (row := row_of(event)) is not None]
        return rows

    def answer() -> list[UsageRow] | UsageError:
        try:
            return ask()
        except tinker.TinkerError as error:
            return UsageError(_said(error))
        except (OSError, ValueError) as error:
            return UsageError(f"Tinker could not be asked: {_first_line(error)}")

    told = _within(timeout_s, answer)
    if told is None:
        raise UsageError(
            f"no answer from Tinker within {timeout_s:g} s: is the service up, and the account in order?"
        )
    if isinstance(told, UsageError):
        raise told
    return tuple(told)


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


def _within(
    timeout_s: float, ask: Callable[[], list[UsageRow] | UsageError]
) -> list[UsageRow] | UsageError | None:
    """The answer; None when it has not come in time. What still waits then dies with the process."""
    told: list[list[UsageRow] | UsageError] = []
    over = Event()

    def work() -> None:
        try:
            told.append(ask())
        finally:
            over.set()

    Thread(target=work, daemon=True, name="tinker-billing").start()
    over.wait(timeout_s)
    return told[0] if told else None


def _said(error: Exception) -> str:
    """What an error of the SDK means to the user."""
    status = getattr(error, "status_code", None)
    line = _first_line(error)
    if status == 401:
        return "Tinker does not accept this key: set TINKER_API_KEY, or run `tinker auth login`"
    if status == 403:
        return "this key may not see the bill: that takes the role of admin or billing admin at Tinker"
    if type(error).__name__ == "APIResponseValidationError":
        return f"{TOO_OLD} (it does not understand the answer)"
    if "api_key" in line:
        return "no key that Tinker could accept: set TINKER_API_KEY, or run `tinker auth login`"
    return f"Tinker could not be asked: {line}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
