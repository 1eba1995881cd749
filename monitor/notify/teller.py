"""All who are told of the alerts of a run, or of many: receivers of messages, and the user's command.

Its one rule: `tell` returns at once, whatever ails a receiver, and raises nothing.
"""

from collections.abc import Sequence
from random import Random

from ...models.notifying import NotifySettings
from ..clock import Clock
from ..frame import Frame
from .command import OnCritical
from .courier import Courier
from .lane import GATHER_S, Lane
from .news import News, Notice
from .receiver import Receiver

CLOSE_S = 5.0
"""How long what still waits is given when rltop ends."""


class Teller:
    """Tells the news of each frame."""

    def __init__(
        self,
        receivers: Sequence[Receiver],
        settings: NotifySettings,
        clock: Clock,
        on_critical: OnCritical | None = None,
        gather_s: float = GATHER_S,
    ) -> None:
        self._clock = clock
        self._news = News(settings.severity)
        self._critical_news = News("critical")
        self._of_many: dict[str, News] = {}
        """Of many runs, by what tells them apart."""
        self._told: set[tuple[str, str, int]] = set()
        """(run, rule, step) of what was told of those."""
        self._on_critical = on_critical
        random = Random()
        self._couriers = [
            Courier(receiver, Lane(settings.every_s, random, gather_s), clock) for receiver in receivers
        ]

    def tell(self, frame: Frame) -> None:
        """Take in a frame."""
        notices = self._news.look(frame) if self._couriers else []
        for courier in self._couriers:
            courier.post(notices)
        if self._on_critical is not None:
            self._on_critical.post(self._critical_news.look(frame))

    def tell_of(self, id: str, frame: Frame) -> None:
        """Take in a frame of one of many runs: of those, critical alerts alone are told, each once."""
        news = self._of_many.setdefault(id, News("critical"))
        notices: list[Notice] = []
        for notice in news.look(frame):
            key = (id, notice.alert.rule, notice.alert.step)
            if notice.urgent and key not in self._told:
                self._told.add(key)
                notices.append(notice)
        for courier in self._couriers:
            courier.post(notices)
        if self._on_critical is not None:
            self._on_critical.post(notices)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know of the telling, one line each: who cannot be reached, and why."""
        troubles = [courier.trouble for courier in self._couriers]
        if self._on_critical is not None:
            troubles.append(self._on_critical.trouble)
        return tuple(trouble for trouble in troubles if trouble)

    def close(self, timeout_s: float = CLOSE_S) -> tuple[str, ...]:
        """Give what still waits a last try, for `timeout_s` in all; one line for each that did not do."""
        workers = [*self._couriers, *([self._on_critical] if self._on_critical is not None else [])]
        for worker in workers:
            worker.close()
        until = self._clock.now() + timeout_s
        failed = [worker.join(max(0.0, until - self._clock.now())) for worker in workers]
        return tuple(line for line in failed if line)
