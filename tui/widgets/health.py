"""Whether the run is healthy: clip ratio, MFU, throughput, reward, and more where there is room."""

from ...models import text
from ...models.alert import Alert
from ...monitor.frame import Frame
from ..glyphs import SEVERITY
from ..lines import Line, Part, Span, part, row
from ..plot import sparkline
from ..readings import active, tail
from .cost import LABEL
from .panel import Panel

TREND = 12
"""Cells of a sparkline."""


class Health(Panel):
    """One line; the sign of an alert stands beside the figure it is about."""

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        health = frame.health
        alerts = active(frame)
        clip = health.clip_ratio
        mfu = health.mfu.whole_step if health.mfu.whole_step is not None else health.mfu.logged
        clip_note = () if clip.reliable or clip.last is None else (Span(" (unsure)", "dim"),)
        parts = [
            _figure(1, "clip", text.percent(clip.last), _about(alerts, "clip"), clip_note),
            _figure(3, "MFU", text.percent(mfu), _about(alerts, "mfu")),
            _figure(4, "tok/s", text.tokens_compact(health.tokens_per_s), _about(alerts, "throughput")),
            _figure(
                2,
                "reward",
                text.number(health.reward),
                _about(alerts, "reward"),
                _trend(frame, "reward_mean"),
            ),
            _latest_eval(frame),
            _figure(5, "KL", text.number(health.kl), _about(alerts, "kl")),
            _figure(6, "entropy", text.number(health.entropy), _about(alerts, "entropy")),
            _figure(7, "grad norm", text.number(health.grad_norm), _about(alerts, "grad")),
        ]
        return [(Span(f"{'HEALTH':{LABEL}}", "title"), *row(parts, width - LABEL))]


def _latest_eval(frame: Frame) -> Part:
    """The first score of the newest evaluation."""
    scored = next((found for found in reversed(frame.state.history.evals) if found.scores), None)
    if scored is None:
        return part(8)
    score = next(iter(scored.scores.values()))
    return part(
        8, Span(f"eval {scored.name} ", "dim"), Span(text.number(score)), Span(f" at {scored.step}", "dim")
    )


def _about(alerts: list[Alert], topic: str) -> Alert | None:
    """The gravest active alert on a topic, by the name of its rule."""
    return next((alert for alert in alerts if topic in alert.rule), None)


def _figure(rank: int, name: str, value: str, alert: Alert | None, more: Line = ()) -> Part:
    if alert is None or alert.severity == "info":
        return part(rank, Span(f"{name} ", "dim"), Span(value), *more)
    ink = "bad" if alert.severity == "critical" else "warn"
    return part(rank, Span(f"{name} ", "dim"), Span(f"{value} {SEVERITY[alert.severity]}", ink), *more)


def _trend(frame: Frame, column: str) -> Line:
    values = tail(frame, column, TREND * 4)
    return (Span(f" {sparkline(values, TREND)}", "ours"),) if len(values) > 1 else ()
