"""Runs the rules over a run and keeps the alerts: all of them, in order, for as long as the run is watched.

No alert is ever dropped, merged away or held back: a list that is too long is the screen's matter.
"""

from typing import Any

from ...models.alert import Alert, Severity, Watch
from ...models.settings import Settings
from ..moment import Moment
from . import RULES, check_settings
from .latch import Latch
from .options import RuleOptions
from .rule import FINE, Reading, Rule, Unwatched
from .stakes import step_of

MISSED_READINGS = 20
"""After so many looks without its input a rule that had been watched no longer is."""


class AlertEngine:
    """The alerts of one run. Depends on the moments it is shown and on nothing else.

    Raises SettingsError when a setting names no rule, no setting of it, or a value of the wrong kind.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        options = check_settings(settings.alerts)
        self._watchers = [_Watcher(rule, options[rule.name]) for rule in RULES]
        self._by_step = [w for w in self._watchers if w.options.enabled and w.rule.observe]
        self._by_time = [w for w in self._watchers if w.options.enabled and w.rule.tick]
        self._alerts: list[Alert] = []
        self._shown: tuple[Alert, ...] | None = ()
        self._rows = 0
        """Steps seen, by their rows in the history."""
        self._kept_rows = 0
        """Steps that lasting rules have seen before all steps were gone through anew."""

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """All alerts in the order in which they were raised, cleared ones too."""
        if self._shown is None:
            kept = self._kept_rows > 0
            # What was kept came first, and the rest is found again after it: only the steps tell the order.
            self._shown = tuple(sorted(self._alerts, key=lambda a: a.step) if kept else self._alerts)
        return self._shown

    @property
    def watched(self) -> tuple[Watch, ...]:
        """Every rule, whether it is being watched, and what it lacks or waits for."""
        return tuple(watcher.watch() for watcher in self._watchers)

    def observe(self, moment: Moment) -> None:
        """Take in a step that has just closed; `moment.row` is that step."""
        again = moment.row is not None and moment.row.index < self._kept_rows
        if moment.row is not None:
            self._rows = max(self._rows, moment.row.index + 1)
        for watcher in self._by_step:
            if again and watcher.rule.lasting:
                continue
            assert watcher.rule.observe is not None
            watcher.memory, reading = watcher.rule.observe(watcher.memory, moment, watcher.options.limits)
            if reading is not FINE or not watcher.calm:
                self._take(watcher, reading, moment)

    def tick(self, moment: Moment) -> None:
        """Take in that time has passed."""
        for watcher in self._by_time:
            assert watcher.rule.tick is not None
            watcher.memory, reading = watcher.rule.tick(watcher.memory, moment, watcher.options.limits)
            self._take(watcher, reading, moment)

    def anew(self) -> "AlertEngine":
        """The engine with which to go through all steps again, because what is known of them has changed.

        What was told of things that have passed by is kept: no log line or GPU reading comes twice, and a
        crash that was shown may not vanish because the run was resumed.
        """
        engine = AlertEngine(self._settings)
        engine._kept_rows = max(self._rows, self._kept_rows)
        lasting = {watcher.rule.name: watcher for watcher in engine._watchers if watcher.rule.lasting}
        for watcher in self._watchers:
            if watcher.rule.lasting:
                lasting[watcher.rule.name].resume(watcher)
        for alert in self._alerts:
            if alert.rule in lasting:
                # If one is up it is the rule's last, and so this ends at its place.
                lasting[alert.rule].place = len(engine._alerts)
                engine._alerts.append(alert)
        engine._shown = None
        return engine

    def _take(self, watcher: "_Watcher", reading: Reading | Unwatched | None, moment: Moment) -> None:
        if reading is None:
            return
        watcher.calm = False
        if isinstance(reading, Unwatched):
            watcher.missed += 1
            watcher.why = reading.why
            return
        watcher.missed, watcher.ever, watcher.why = 0, True, reading.note
        watcher.latch, change = watcher.latch.read(reading, watcher.options.debounce)
        severity = watcher.latch.severity
        watcher.calm = reading is FINE and watcher.latch.quiet
        if change == "cleared":
            self._change(watcher.place, cleared_step=step_of(moment))
        elif severity is None:
            return
        elif change == "raised":
            watcher.place = len(self._alerts)
            self._alerts.append(_alert(watcher, severity, reading, moment))
            self._shown = None
        elif reading.level != "ok":
            self._renew(watcher, severity, reading)

    def _renew(self, watcher: "_Watcher", severity: Severity, reading: Reading) -> None:
        """An alert that is up tells of the newest reading that bears it out."""
        if reading.level == "info" != severity:
            return
        before = self._alerts[watcher.place]
        shown = watcher.options.severity or severity
        if (shown, reading.message, reading.advice) != (before.severity, before.message, before.advice):
            self._change(
                watcher.place,
                severity=shown,
                value=reading.value,
                threshold=reading.threshold,
                message=reading.message,
                advice=reading.advice,
            )

    def _change(self, place: int, **fields: Any) -> None:
        self._alerts[place] = self._alerts[place].model_copy(update=fields)
        self._shown = None


class _Watcher:
    """One rule at work: its settings, what it remembers, and the alert that it has up."""

    __slots__ = ("calm", "ever", "latch", "memory", "missed", "options", "place", "rule", "why")

    def __init__(self, rule: Rule[Any, Any], options: RuleOptions) -> None:
        self.rule = rule
        self.options = options
        self.memory = rule.memory
        self.latch = Latch()
        self.place = -1
        self.calm = False
        """All was fine at the last look, and nothing is up: one more that is fine changes nothing."""
        self.ever = False
        self.missed = 0
        self.why = "no step yet" if rule.observe else "no look yet"

    def resume(self, other: "_Watcher") -> None:
        """Go on from where another one of this rule stood."""
        self.memory, self.latch = other.memory, other.latch
        self.ever, self.missed, self.why = other.ever, other.missed, other.why

    def watch(self) -> Watch:
        if not self.options.enabled:
            return Watch(rule=self.rule.name, watched=False, why="switched off")
        watched = self.ever and self.missed < MISSED_READINGS
        return Watch(rule=self.rule.name, watched=watched, why=self.why)


def _alert(watcher: _Watcher, severity: Severity, reading: Reading, moment: Moment) -> Alert:
    ended_at = moment.get("ended_at")
    return Alert(
        rule=watcher.rule.name,
        severity=watcher.options.severity or severity,
        step=step_of(moment) if reading.since is None else reading.since,
        raised_at=moment.now if ended_at is None else ended_at,
        value=reading.value,
        threshold=reading.threshold,
        message=reading.message,
        advice=reading.advice,
    )
