"""Notices as a message of plain text that a person reads on a phone. Pure."""

from collections.abc import Sequence
from typing import Literal

from ...models.text import printable
from ...models.value import Value
from ..check import ORDER
from .news import Notice

MOST_LINES = 20
"""Notices in one message that are not critical; the rest is counted."""
_LONGEST = 500
"""Characters of one notice: a log line can be of any length."""


class Message(Value):
    """What is sent: a title of one line, and a body."""

    title: str
    body: str
    mood: Literal["info", "success", "warning", "failure"]


def message_of(notices: Sequence[Notice], left_out: int = 0) -> Message:
    """All of these in one message; the urgent ones first, and never left out."""
    ordered = sorted(notices, key=lambda notice: not notice.urgent)
    urgent = sum(notice.urgent for notice in ordered)
    shown = ordered[: max(urgent, MOST_LINES)]
    more = len(ordered) - len(shown) + left_out
    lines = [_line(notice) for notice in shown]
    if more:
        lines.append(f"and {more} more: see rltop")
    newest = {notice.run: notice.stand for notice in notices if notice.stand}
    runs = list(dict.fromkeys(notice.run for notice in notices))
    for run, stand in newest.items():
        lines.append(printable(f"{run}: {stand}" if len(runs) > 1 else stand))
    return Message(title=_title(notices, runs), body="\n".join(lines), mood=_mood(notices))


def _line(notice: Notice) -> str:
    alert = notice.alert
    if notice.change == "resolved":
        text = f"OVER at step {alert.cleared_step}: {alert.rule}: {alert.message}"
    else:
        advice = f" → {alert.advice}" if alert.advice else ""
        text = f"{alert.severity.upper()} since step {alert.step}: {alert.message}{advice}"
    text = printable(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _title(notices: Sequence[Notice], runs: Sequence[str]) -> str:
    where = runs[0] if len(runs) == 1 else f"{len(runs)} runs"
    raised = [notice.alert for notice in notices if notice.change != "resolved"]
    if not raised:
        over = ", ".join(dict.fromkeys(notice.alert.rule for notice in notices))
        return printable(f"rltop: {where}: over: {over}")
    worst = max(raised, key=lambda alert: ORDER[alert.severity])
    rules = ", ".join(dict.fromkeys(alert.rule for alert in raised))
    return printable(f"rltop: {where}: {worst.severity}: {rules}")


def _mood(notices: Sequence[Notice]) -> Literal["info", "success", "warning", "failure"]:
    raised = [notice.alert.severity for notice in notices if notice.change != "resolved"]
    if not raised:
        return "success"
    return {"critical": "failure", "warning": "warning", "info": "info"}[max(raised, key=ORDER.__getitem__)]  # pyright: ignore[reportReturnType]
