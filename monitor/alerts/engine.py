"""Alerts engine."""

from ...models.alert import Alert
from ...models.settings import Settings
from ..moment import Moment


class AlertEngine:
    """Runs the rules."""

    def __init__(self, settings: Settings) -> None:
        self.alerts: tuple[Alert, ...] = ()

    def observe(self, moment: Moment) -> None:
        """One closed step."""

    def tick(self, moment: Moment) -> None:
        """Between steps."""
