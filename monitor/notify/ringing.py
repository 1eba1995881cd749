"""When the terminal calls: at the news of an alert, and not more often than every few seconds.

Its one rule: it makes the bytes; whoever draws the screen writes them, since nobody else may.
"""

from ...models.notifying import NotifySettings
from ..frame import Frame
from .message import message_of
from .news import News, Notice
from .terminal import sequences

REST_S = 10.0
"""Between two calls; what comes meanwhile is told by the next one."""


class Ringing:
    """The calls of one run's alerts."""

    def __init__(self, settings: NotifySettings, tmux: bool) -> None:
        self._calls = settings.terminal
        self._tmux = tmux
        self._news = News(settings.terminal_severity)
        self._waiting: list[Notice] = []
        self._rang_at = float("-inf")

    def look(self, frame: Frame) -> str:
        """The bytes to write for this frame, mostly none."""
        if not self._calls:
            return ""
        self._waiting += [notice for notice in self._news.look(frame) if notice.change != "resolved"]
        if not self._waiting or frame.now - self._rang_at < REST_S:
            return ""
        message = message_of(self._waiting)
        self._waiting, self._rang_at = [], frame.now
        return sequences(self._calls, message.title, message.body.splitlines()[0], self._tmux)
