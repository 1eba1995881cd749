"""Who is told of alerts beside whoever looks: what the flags and [notify] of rltop.toml come to.

Its one rule: what is wrong with them is told before anything starts; what goes wrong later is a remark.
"""

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..models.notifying import NotifySettings
from ..models.settings import SettingsError
from ..models.text import printable
from ..monitor.frame import Frame

if TYPE_CHECKING:
    from ..monitor.notify.ringing import Ringing
    from ..monitor.notify.teller import Teller


class Telling:
    """Passes frames on, and tells who is to be told.

    Raises:
        SettingsError: an address refers to what is not there, or Apprise is not installed.
    """

    def __init__(self, args: argparse.Namespace, settings: NotifySettings) -> None:
        self._settings = settings
        self._on_critical: tuple[str, ...] = args.on_critical or ()
        self._urls = () if args.no_notify else addresses(settings)
        self._teller: Teller | None = None
        self._ringing: Ringing | None = None

    def open(self, check: bool) -> None:
        """Get ready. Where `check`, an address that Apprise does not know is an error; it takes 0.2 s.

        Raises:
            SettingsError: see above.
        """
        # All of this once the screen is there, or where there is none: it takes 30 ms, and Apprise 200 more.
        from ..monitor.clock import SystemClock
        from ..monitor.notify.command import OnCritical
        from ..monitor.notify.receiver import receivers_of
        from ..monitor.notify.ringing import Ringing
        from ..monitor.notify.teller import Teller

        receivers = receivers_of(self._urls)
        for receiver in receivers if check else ():
            if why := receiver.check():
                raise SettingsError(f"notify.urls: {receiver.name}: {why}")
        words = self._on_critical
        command = OnCritical(words, self._settings.command_timeout_s) if words else None
        self._ringing = Ringing(self._settings, tmux=bool(os.environ.get("TMUX")))
        self._teller = Teller(receivers, self._settings, SystemClock(), command)

    def passing(self, publish: Callable[[Frame], None]) -> Callable[[Frame], None]:
        """`publish`, with the telling before it, and in the frame its remarks and what rings the terminal."""

        def tell(frame: Frame) -> None:
            if self._teller is not None and self._ringing is not None:
                self._teller.tell(frame)
                remarks, call = self._teller.remarks, self._ringing.look(frame)
                if remarks or call:
                    frame = replace(frame, remarks=remarks, call=call)
            publish(frame)

        return tell

    def of_many(self) -> Callable[[str, Frame], None] | None:
        """What takes the frames of many runs, with what tells each apart; None where nobody is to be told."""
        if not self._urls and not self._on_critical:
            return None
        self.open(check=False)
        return self._teller.tell_of if self._teller is not None else None

    def close(self) -> None:
        """Give what waits a last try, for a few seconds; what has not arrived goes to stderr."""
        for line in self._teller.close() if self._teller is not None else ():
            print(f"rltop: {printable(line)}", file=sys.stderr)


def addresses(settings: NotifySettings) -> tuple[str, ...]:
    """The addresses in [notify], with what the environment holds put in.

    Raises:
        SettingsError: see `Telling`.
    """
    if not settings.urls:
        return ()
    from ..monitor.notify.receiver import NEEDED  # for the few who have addresses
    from ..monitor.notify.urls import resolved

    if find_spec("apprise") is None:
        raise SettingsError(NEEDED)
    return resolved([url.get_secret_value() for url in settings.urls], os.environ)
