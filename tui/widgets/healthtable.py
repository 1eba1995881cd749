"""Whether training goes well, as figures: last, first, least and most of each quantity, and its trend."""

from collections.abc import Callable, Sequence

from ...models import text
from ...models.text import printable
from ...monitor.frame import Frame
from ..lines import Line, Span, cut
from ..plot import sparkline
from ..readings import Series
from .lengthcharts import eval_curves
from .panel import Panel

NAME, VALUE, WHERE, TREND = 22, 10, 8, 24
ROWS: tuple[tuple[str, str, Callable[[float | None], str]], ...] = (
    ("reward", "reward_mean", text.number),
    ("KL", "kl", text.number),
    ("entropy", "entropy", text.number),
    ("gradient norm", "grad_norm", text.number),
    ("ratios clipped", "pg_clip_fraction", text.percent),
    ("learning rate", "lr", text.number),
    ("loss", "loss", text.number),
    ("groups of one reward", "zero_variance_groups", text.percent),
)


class HealthTable(Panel):
    """Least and most stand with the step that they are from, as a step is what can be looked up."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._series = {column: Series() for _, column, _ in ROWS}

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        columns = frame.state.history.columns
        where = WHERE if width >= NAME + 4 * VALUE + 2 * WHERE + 10 else 0
        titles = f"{'last':>{VALUE}}{'first':>{VALUE}}"
        for title in ("least", "most"):
            titles += f"{title:>{VALUE}}" + (f"{'at step':>{where}}" if where else "")
        trend = max(0, min(TREND, width - NAME - 4 * VALUE - 2 * where - 2))
        lines: list[Line] = [(Span(f"{'HEALTH':<{NAME}}", "title"), Span(titles, "dim"))]
        for curve in reversed(eval_curves(frame)):
            name = f"eval {curve.name}" if curve.name else "eval score"
            lines.append(_line(name, curve.xs, curve.ys, text.number, where, trend))
        for name, column, write in ROWS:
            xs, ys = self._series[column].read(frame, columns[column])
            if ys:
                lines.append(_line(name, xs, ys, write, where, trend))
        if len(lines) == 1:
            lines.append((Span("nothing of it is in the log so far", "dim"),))
        return lines


def _line(
    name: str,
    xs: Sequence[float],
    ys: Sequence[float],
    write: Callable[[float | None], str],
    where: int,
    trend: int,
) -> Line:
    spans = [Span(f"{cut(printable(name), NAME - 1):<{NAME}}"), Span(f"{write(ys[-1]):>{VALUE}}", "strong")]
    spans.append(Span(f"{write(ys[0]):>{VALUE}}", "dim"))
    for value in (min(ys), max(ys)):
        spans.append(Span(f"{write(value):>{VALUE}}"))
        if where:
            spans.append(Span(f"{xs[ys.index(value)]:>{where}.0f}", "dim"))
    if trend > 3:
        spans.append(Span(f"  {sparkline(ys, trend)}", "ours"))
    return tuple(spans)
