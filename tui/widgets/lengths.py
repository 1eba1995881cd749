"""The lengths as figures: now, at first, at most, at the end; and every spread that the log itself tells."""

import re
from collections.abc import Sequence

from ...models import text
from ...models.text import printable
from ...monitor.frame import Frame
from ..lines import Line, Span, cut, part, row
from ..plot import sparkline
from ..readings import Series
from .panel import Panel

NAME, VALUE, TREND = 26, 10, 24
SPREAD = re.compile(r"(?i)(p\d{1,2}|q\d{1,2}|median|std|min|max|quantile|percentile|truncat|terminated)")
ABOUT = re.compile(r"(?i)(length|_len\b|\blen_|tokens_per_turn|tokens_per_episode)")
COLUMNS = (
    ("mean response", "response_length_mean"),
    ("longest response", "response_length_max"),
    ("shortest response", "response_length_min"),
    ("mean prompt", "prompt_length_mean"),
)


class Lengths(Panel):
    """A line for each length that the run tells, then the log's own keys that tell of their spread."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._series: dict[str, Series] = {}

    def _known(self, frame: Frame, name: str, column: Sequence[float]) -> list[float]:
        return self._series.setdefault(name, Series()).read(frame, column)[1]

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        trend = max(0, min(TREND, width - NAME - 3 * VALUE - 2))
        titles = "".join(f"{title:>{VALUE}}" for title in ("last", "first", "most"))
        lines: list[Line] = [(Span(f"{'TOKENS':<{NAME}}", "title"), Span(titles, "dim"))]
        for title, column in COLUMNS:
            if values := self._known(frame, column, frame.state.history.columns[column]):
                lines.append(_line(title, values, trend))
        lines += _outlook(frame, width)
        told = [(key, column) for key, column in list(frame.state.history.raw.items()) if _of_interest(key)]
        if told:
            lines += [(), (Span("AS THE LOG TELLS IT", "title"),)]
            for key, column in sorted(told):
                if known := self._known(frame, f"raw {key}", column):
                    lines.append(_line(cut(printable(key), NAME - 1), known, trend))
        return lines


def _of_interest(key: str) -> bool:
    return bool(ABOUT.search(key) and SPREAD.search(key))


def _line(title: str, values: list[float], trend: int) -> Line:
    figures = "".join(f"{text.tokens(value):>{VALUE}}" for value in (values[-1], values[0], max(values)))
    spark = (Span(f"  {sparkline(values[-8 * TREND :], trend)}", "ours"),) if trend > 3 else ()
    return (Span(f"{title:<{NAME}}"), Span(figures), *spark)


def _outlook(frame: Frame, width: int) -> list[Line]:
    """How the length grows, where it will be, and how much of it is cut."""
    length, clip = frame.health.response_length, frame.health.clip_ratio
    end, cap = frame.projection.response_length_at_end, frame.info.max_tokens
    parts = [part(0, Span("growth ", "dim"), Span(text.ratio(length.growth)))]
    if end is not None and frame.status != "finished":
        around = f" (80 %: {text.tokens(end.p10)} – {text.tokens(end.p90)})"
        parts.append(
            part(1, Span("at the end ", "dim"), Span(text.tokens(end.p50), "projected"), Span(around, "dim"))
        )
    if cap is not None and length.last is not None:
        parts.append(
            part(
                2,
                Span("cap ", "dim"),
                Span(text.tokens(cap), "cap"),
                Span(f", mean at {text.percent(length.last / cap)} of it", "dim"),
            )
        )
    cut_off: list[Line] = []
    if clip.last is not None:
        sure = clip.why if clip.reliable else f"unsure: {clip.why}" if clip.why else "unsure"
        cut_off = [
            row(
                [
                    part(0, Span("cut at the cap ", "dim"), Span(text.percent(clip.last))),
                    part(1, Span(cut(printable(sure), width - 24), "dim")),
                ],
                width,
            )
        ]
    return [row(parts, width), *cut_off]
