"""Who is told of alerts: the table [notify] of rltop.toml."""

from typing import Literal

from pydantic import Field, SecretStr

from .alert import Severity
from .value import Value

TerminalCall = Literal["bell", "osc9", "osc777"]
NOTIFY_URLS = 20


class NotifySettings(Value):
    """Who is told of alerts."""

    urls: tuple[SecretStr, ...] = Field(default=(), max_length=NOTIFY_URLS)
    """Addresses as Apprise knows them, or `$NAME` for one that the environment holds."""
    severity: Severity = "warning"
    """The mildest alert that is sent."""
    every_s: float = Field(default=30.0, ge=0, le=86_400)
    """Seconds between two messages to one receiver, but for critical alerts."""
    command_timeout_s: float = Field(default=60.0, gt=0, le=86_400)
    """Seconds after which the command of --on-critical is ended."""
    terminal: tuple[TerminalCall, ...] = ("bell",)
    """How the terminal of the screen calls."""
    terminal_severity: Severity = "critical"
    """The mildest alert at which it does."""
