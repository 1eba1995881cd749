"""A run told to the alert engine step by step, without a log, prices or a projection in between."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rltop.models.alert import Alert, Watch
from rltop.models.event import Event
from rltop.models.money import Bill, StepCost, TokenPrice
from rltop.models.projection import Projection
from rltop.models.run import RunInfo, RunStatus
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.alerts.engine import AlertEngine
from rltop.monitor.moment import Moment, Outlay
from rltop.monitor.reduce import reduce
from rltop.monitor.state import RunState


class Told:
    """What is not told stays unknown. Steps count from 1; the clock stands at the end of the last step."""

    def __init__(self, info: RunInfo | None = None, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.engine = AlertEngine(self.settings)
        self.state = RunState(info=info or RunInfo(first_step=1))
        self.bill = Bill()
        self.projection = Projection()
        self.rates: TokenPrice | None = None
        self.rates_now: TokenPrice | None = None
        self.now = 0.0

    def tell(self, *events: Event) -> None:
        """Anything but a step."""
        for event in events:
            self.state = reduce(self.state, event)

    def step(self, usd: float | None = None, raw: dict[str, float] | None = None, **told: Any) -> None:
        """One more step closes."""
        number = len(self.state.history) + 1
        step = Step(step=number, raw=raw or {}, **told)
        self.state = reduce(self.state, step)
        self.now = step.ended_at or self.now + (step.duration_s or 0.0)
        row = self.state.history.row(number - 1)
        cost = StepCost(step=number, usd=usd, duration_s=step.duration_s)
        moment = self._moment("running", None)
        self.engine.observe(
            moment._replace(row=row, cost=cost, rates=self.rates, rates_now=self.rates_now or self.rates)
        )

    def steps(self, name: str, values: Sequence[float], **told: Any) -> None:
        """As many steps as values of this quantity."""
        for value in values:
            self.step(**{name: value}, **told)

    def anew(self) -> None:
        """All steps are gone through again, as after a resume."""
        self.engine = self.engine.anew()
        for index in range(len(self.state.history)):
            row = self.state.history.row(index)
            self.engine.observe(self._moment("running", None)._replace(row=row))

    def tick(self, status: RunStatus = "running", silent_s: float | None = None) -> None:
        """Time has passed, perhaps none."""
        self.engine.tick(self._moment(status, silent_s))

    def alerts(self, rule: str) -> list[Alert]:
        """This rule's alerts, in the order in which they were raised."""
        return [alert for alert in self.engine.alerts if alert.rule == rule]

    def watch(self, rule: str) -> Watch:
        """Whether the rule is watched."""
        return next(watch for watch in self.engine.watched if watch.rule == rule)

    def _moment(self, status: RunStatus, silent_s: float | None) -> Moment:
        return Moment(
            state=self.state,
            info=self.state.info,
            settings=self.settings,
            row=None,
            cost=None,
            money=Outlay(self.bill, self.projection),
            status=status,
            now=self.now + (silent_s or 0.0),
            since_last_step_s=silent_s,
        )


@pytest.fixture
def told() -> Told:
    """A run with no facts and no settings."""
    return Told()


@pytest.fixture(scope="session")
def told_with() -> Callable[..., Told]:
    """A run with facts (`info`) or the user's word (`settings`)."""
    return Told
