"""Tinker's own SDK, asked with patience that has an end.

The one rule: whatever goes wrong becomes one line that says what to do, and never holds the key. The SDK
retries for minutes and waits for an hour where an account is behind with its bills, so an answer is only
waited for so long.
"""

import atexit
import os
import sys
from collections.abc import Callable
from threading import Event, Thread
from typing import Any, TypeVar

TOO_OLD = "this Tinker SDK is too old: pip install --upgrade tinker"
KEY = "TINKER_API_KEY"
NO_KEY = f"no key that Tinker could accept: set {KEY}, or run `tinker auth login`"
NOT_ACCEPTED = f"Tinker does not accept this key: set {KEY}, or run `tinker auth login`"
REFUSED = (NO_KEY, NOT_ACCEPTED)

STOP_S = 1.0

Answer = TypeVar("Answer")


class SdkError(Exception):
    """Tinker cannot be asked; the message is one line. `refused`: asking again soon would not help."""

    def __init__(self, reason: str, refused: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused


def ask(timeout_s: float, question: Callable[[], Answer], forbidden: str, missing: str = "") -> Answer:
    """The answer to a question that uses the SDK, which has been imported by then.

    `forbidden` and `missing` say what it means that the key has no right to the answer (403), or that nothing
    of that name is there (404).

    Raises:
        SdkError: no key, right or answer in time. What still waits then dies with the process.
    """
    told: list[Answer | SdkError] = []
    over = Event()
    atexit.unregister(_stop_its_thread)
    atexit.register(_stop_its_thread)

    def work() -> None:
        try:
            told.append(_answer(question, forbidden, missing))
        finally:
            over.set()

    Thread(target=work, daemon=True, name="rltop-tinker-sdk").start()
    over.wait(timeout_s)
    if not told:
        raise SdkError(
            f"no answer from Tinker within {timeout_s:g} s: is the service up, and the account in order?"
        )
    if isinstance(told[0], SdkError):
        raise told[0]
    return told[0]


def _stop_its_thread() -> None:
    """The SDK leaves a thread at work; one that an ending interpreter catches there may abort the process."""
    kept: Any = getattr(
        sys.modules.get("tinker.lib.internal_client_holder"), "_internal_client_holder_thread_singleton", None
    )
    loop, thread = getattr(kept, "_loop", None), getattr(kept, "_thread", None)
    if loop is not None and thread is not None and loop.is_running():
        loop.call_soon_threadsafe(loop.stop)
        thread.join(STOP_S)


def spare_telemetry() -> None:
    """Looking at something is nothing to report on; whoever wants telemetry has the variable set."""
    os.environ.setdefault("TINKER_TELEMETRY", "0")


def _answer(question: Callable[[], Answer], forbidden: str, missing: str) -> Answer | SdkError:
    import tinker  # half a second, and an extra: whoever asks has imported it

    try:
        return question()
    except tinker.TinkerError as error:
        return _said(error, forbidden, missing)
    except (OSError, ValueError) as error:
        return SdkError(f"Tinker could not be asked: {_first_line(error)}")


def _said(error: Exception, forbidden: str, missing: str) -> SdkError:
    """What an error of the SDK means to the user."""
    status = getattr(error, "status_code", None)
    line = _first_line(error)
    if status == 401:
        return SdkError(NOT_ACCEPTED, refused=True)
    if status == 403:
        return SdkError(forbidden, refused=True)
    if status == 404 and missing:
        return SdkError(missing, refused=True)
    if type(error).__name__ == "APIResponseValidationError":
        return SdkError(f"{TOO_OLD} (it does not understand the answer)", refused=True)
    if "api_key" in line:
        return SdkError(NO_KEY, refused=True)
    return SdkError(f"Tinker could not be asked: {line}")


def _first_line(error: Exception) -> str:
    line = (str(error).splitlines() or [type(error).__name__])[0]
    key = os.environ.get(KEY)
    return line.replace(key, "…") if key else line
