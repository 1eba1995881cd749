"""A receiver of messages: Slack, Discord, e-mail, ntfy, a webhook and so on, through Apprise.

Its one rule: no part of an address leaves this file but its scheme and the name of its service.
"""

import logging
import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from ...models.settings import SettingsError
from ...models.text import printable
from .message import Message
from .redact import Redactor, scheme_of

if TYPE_CHECKING:
    import apprise

NEEDED = "notifications need `pip install 'rltop[notify]'`"
_LONGEST = 160


class Receiver(Protocol):
    """Somebody who is told."""

    @property
    def name(self) -> str:
        """What to call it; holds no secret."""
        ...

    def deliver(self, message: Message) -> str:
        """Tell it; why that failed, in one line, or nothing. May take some seconds; never raises."""
        ...


class AppriseReceiver:
    """One address. Apprise is imported with the first use, in whatever thread that is: it takes 0.2 s."""

    def __init__(self, url: str, place: int) -> None:
        self.name = f"url {place}, {scheme_of(url)}"
        self._url = url
        self._redactor = Redactor((url,))
        self._plugin: apprise.NotifyBase | None = None

    def __repr__(self) -> str:
        return f"AppriseReceiver({self.name})"

    def check(self) -> str:
        """Why this is no address that Apprise can use; nothing where it is one. Sends nothing."""
        return self._guarded(self._prepare)

    def deliver(self, message: Message) -> str:
        """Tell it, within the timeouts of the address (4 s to connect, 4 s to be answered, by default)."""
        return self._guarded(lambda said: self._prepare(said) or self._send(message, said))

    def _prepare(self, said: "_Said") -> str:
        if self._plugin is not None:
            return ""
        if find_spec("apprise") is None:
            return NEEDED
        import apprise

        asset = apprise.AppriseAsset(storage_mode=apprise.PersistentStoreMode.MEMORY)
        asset.app_id = asset.app_desc = "rltop"
        self._plugin = apprise.Apprise.instantiate(self._url, asset=asset)
        return "" if self._plugin is not None else self._why(said, "not an address that Apprise knows")

    def _send(self, message: Message, said: "_Said") -> str:
        from apprise import NotifyFormat

        done = self._plugin is not None and self._plugin.notify(
            body=message.body,
            title=message.title,
            notify_type=message.mood,
            body_format=NotifyFormat.TEXT,
        )
        return "" if done else self._why(said, "not delivered")

    def _guarded(self, work: "Callable[[_Said], str]") -> str:
        said = _Said()
        with said:
            try:
                return work(said)
            except Exception as error:  # noqa: BLE001 - a hundred services, and none may end the thread
                return self._redactor.clean(f"{type(error).__name__} in Apprise")

    def _why(self, said: "_Said", otherwise: str) -> str:
        text = printable(self._redactor.clean("; ".join(said.lines))) or otherwise
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class _Said(logging.Handler):
    """What Apprise logs in this thread meanwhile: it returns no reasons."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self.lines.append(" ".join(record.getMessage().split()))

    def __enter__(self) -> None:
        logging.getLogger("apprise").addHandler(self)

    def __exit__(self, *error: object) -> None:
        logging.getLogger("apprise").removeHandler(self)


def receivers_of(urls: tuple[str, ...]) -> tuple[AppriseReceiver, ...]:
    """A receiver for each address.

    Raises:
        SettingsError: Apprise is not installed.
    """
    if urls and find_spec("apprise") is None:
        raise SettingsError(NEEDED)
    return tuple(AppriseReceiver(url, place) for place, url in enumerate(urls, start=1))
