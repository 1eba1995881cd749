"""What is new about the alerts of a run since the last look. Pure but for what it remembers.

Its one rule: of each rule, a raise, then perhaps an escalation, then one end, and never another order,
whatever the list of alerts does when steps are gone through anew.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from ...models import text
from ...models.alert import Alert, Severity
from ...models.value import Value
from ..check import ORDER, name_of
from ..frame import Frame

Change = Literal["raised", "escalated", "resolved"]
_Key = tuple[str, int, int]
"""Rule, step, and which one of that rule and step: a stall can come twice within a step."""


class Notice(Value):
    """One change of one alert, and where the run stood then."""

    change: Change
    alert: Alert
    run: str
    stand: str = ""
    """One line: step, dollars so far and at the end."""

    @property
    def urgent(self) -> bool:
        """Whether it may neither wait nor be lost."""
        return self.change != "resolved" and self.alert.severity == "critical"


class News:
    """Finds the news in frame after frame. Alerts below `least` do not exist for it."""

    def __init__(self, least: Severity) -> None:
        self._least = ORDER[least]
        self._up: dict[str, tuple[_Key, Alert]] = {}
        """By rule, what was told as raised and not yet as over."""
        self._seen: set[_Key] = set()
        self._newest: dict[str, int] = {}
        """By rule, the newest step of an alert that was seen."""
        self._last: tuple[Alert, ...] | None = None

    def look(self, frame: Frame) -> list[Notice]:
        """The news since the last frame; of the first, what stands.

        Of a run that had finished before we came nothing is news: there is nothing left to be done.
        """
        if frame.behind or frame.alerts is self._last:
            return []
        if self._last is None and not frame.alerts and not len(frame.state.history):
            # Nothing has been read yet: what the log holds already is no news when it comes.
            return []
        first, self._last = self._last is None, frame.alerts
        if first and frame.status == "finished":
            self._seen.update(key for key, _ in _keyed(frame.alerts))
            return []
        run, stand = name_of(frame), stand_of(frame)
        return [
            Notice(change=change, alert=alert, run=run, stand=stand)
            for change, alert in self._changes(frame.alerts, first)
        ]

    def _changes(self, alerts: tuple[Alert, ...], first: bool) -> Iterator[tuple[Change, Alert]]:
        kept = [(key, alert) for key, alert in _keyed(alerts) if ORDER[alert.severity] >= self._least]
        over = {key: alert for key, alert in kept if alert.cleared_step is not None}
        standing = {alert.rule: (key, alert) for key, alert in kept if alert.cleared_step is None}
        # What ended comes first: of the same rule the next one may be up already.
        yield from self._ended(over, standing)
        if not first:
            yield from self._passed(over)
        yield from self._begun(standing)
        for key in (*over, *(key for key, _ in standing.values())):
            self._seen.add(key)
            self._newest[key[0]] = max(key[1], self._newest.get(key[0], key[1]))

    def _ended(
        self, over: Mapping[_Key, Alert], standing: Mapping[str, object]
    ) -> Iterator[tuple[Change, Alert]]:
        for rule, (key, alert) in list(self._up.items()):
            if key in over:
                del self._up[rule]
                yield "resolved", over[key]
            elif rule not in standing:
                # Seen again with all that is known now, it was none.
                del self._up[rule]
                yield "resolved", alert.model_copy(update={"cleared_step": alert.step})

    def _passed(self, over: Mapping[_Key, Alert]) -> Iterator[tuple[Change, Alert]]:
        """What has come and gone since the last look."""
        for key, alert in over.items():
            if self._is_new(key, alert) and alert.rule not in self._up:
                yield "raised", alert.model_copy(update={"cleared_step": None})
                yield "resolved", alert

    def _begun(self, standing: Mapping[str, tuple[_Key, Alert]]) -> Iterator[tuple[Change, Alert]]:
        for rule, (key, alert) in standing.items():
            before = self._up.get(rule)
            self._up[rule] = (key, alert)
            if before is None:
                yield "raised", alert
            elif ORDER[alert.severity] > ORDER[before[1].severity]:
                yield "escalated", alert

    def _is_new(self, key: _Key, alert: Alert) -> bool:
        """Whether one that has come and gone since the last look is news, and not an old one whose step came
        out otherwise when all steps were gone through anew."""
        newer = alert.step > self._newest.get(alert.rule, alert.step - 1)
        return key not in self._seen and (newer or alert.severity == "critical")


def _keyed(alerts: tuple[Alert, ...]) -> Iterator[tuple[_Key, Alert]]:
    count = Counter[tuple[str, int]]()
    for alert in alerts:
        place = (alert.rule, alert.step)
        yield (*place, count[place]), alert
        count[place] += 1


def stand_of(frame: Frame) -> str:
    """Where the run stands, in a line: `step 35 of 94 · $53.04 so far · $242 at the end`."""
    last, total, final = frame.state.last_row, frame.info.total_steps, frame.projection.final_usd
    of = f" of {total}" if total is not None else ""
    parts = [
        f"step {last.step}{of}" if last is not None else "",
        f"{text.usd(frame.bill.spent_usd)} so far" if frame.bill.spent_usd is not None else "",
        f"{text.usd(final.p50)} at the end"
        if final is not None and frame.status not in ("finished", "crashed")
        else "",
        frame.status if frame.status in ("finished", "crashed", "stalled") else "",
    ]
    return " · ".join(part for part in parts if part)
