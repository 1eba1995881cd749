"""The scores of the evaluations over the steps.

Its one rule: scores of one size share an axis, and no other does: an accuracy beside a length would be a line
along the bottom.
"""

from dataclasses import replace

from ...models import text
from ...models.text import printable
from ...monitor.frame import Frame
from ..lines import Line, Span
from ..plot import Curve, Plot
from .chart import Chart
from .charts import DASH, over_steps
from .lengthcharts import eval_curves

APART = 4.0
"""How many times as large as another a score may be to be of its size."""


class EvalChart(Chart):
    """Up to four scores together; the crosshair names them. Those of another size than the first are dashed,
    on an axis of their own at the right; what is of a third size is in the table alone."""

    nothing = "no evaluation so far"
    label_width = 6

    def title(self, frame: Frame, width: int) -> Line | None:
        curves = list(reversed(on_axes(eval_curves(frame))))
        # The first of each axis come first: the line may be cut.
        firsts = {id(curve) for curve in _firsts(curves)}
        curves = sorted(curves, key=lambda curve: id(curve) not in firsts)
        spans = [Span("EVAL  ", "title")]
        for curve, name in zip(curves, _apart([curve.name for curve in curves]), strict=True):
            spans.append(Span("╌ " if curve.right else "━ ", curve.ink))
            spans += [Span(f"{printable(name)} ", "dim")] if name else []
            spans.append(Span(f"{text.number(curve.ys[-1])}  "))
        return tuple(spans)

    def plot(self, frame: Frame) -> Plot | None:
        curves = on_axes(eval_curves(frame))
        if not curves:
            return None
        plot = over_steps(frame, curves, _reach(curves, right=False))
        return replace(plot, right=_reach(curves, right=True)) if any(c.right for c in curves) else plot


def on_axes(curves: tuple[Curve, ...]) -> tuple[Curve, ...]:
    """The curves on the axis of the last of them, and those of the next other size on one at the right."""
    sizes: list[float] = []
    """What each axis is of, the left one first: the size of the first curve on it."""
    found: list[Curve] = []
    for curve in reversed(curves):
        size = max(abs(y) for y in curve.ys)
        axis = next((index for index, other in enumerate(sizes) if _alike(size, other)), len(sizes))
        if axis == len(sizes):
            sizes.append(size)
        if axis < 2:
            found.append(replace(curve, right=True, dash=DASH) if axis else curve)
    if len(sizes) < 2:
        return curves
    # The axis at the right is of the ink of its first curve, which none at the left may have.
    inks = {True: iter(("projected", "mark", "plain")), False: iter(("ours", "plain", "mark"))}
    return tuple(reversed([replace(curve, ink=next(inks[curve.right])) for curve in found]))


def _alike(size: float, other: float) -> bool:
    """Whether both are of one size; shares from 0 to 1 are, however small."""
    least, most = sorted((size, other))
    return most <= 1.0 or most <= least * APART


def _firsts(curves: list[Curve]) -> list[Curve]:
    """The first curve of each axis."""
    return [next(curve for curve in curves if curve.right is side) for side in {c.right for c in curves}]


def _apart(names: list[str]) -> list[str]:
    """The names without the words that all begin with, such as that of the one evaluation."""
    words = [name.split(" ") for name in names]
    least = min(map(len, words), default=1) - 1
    same = next((at for at in range(least) if len({some[at] for some in words}) > 1), least)
    return [" ".join(some[same:]) for some in words] if len(names) > 1 else names


def _reach(curves: tuple[Curve, ...], right: bool) -> tuple[float, float]:
    values = [value for curve in curves if curve.right is right for value in curve.ys]
    return min(values), max(values)
