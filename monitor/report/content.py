"""What a report says, before it is written in a format: headings, tables of text, and series. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...models import axis, text
from ...models.alert import Alert
from ...models.money import WhatIf
from ..check import input_notes, name_of
from ..frame import Frame
from ..history import History

Point = tuple[float, float]
"""(step, value)."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text; the first column is a name, the others are right-aligned."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: bool = False
    """The last column is a sentence, not a figure."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart."""

    label: str
    points: tuple[Point, ...]
    kind: str
    """`ours` for what was, `projected` for what is expected."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over the steps, level lines, and the marks of alerts."""

    title: str
    series: tuple[Series, ...]
    levels: tuple[tuple[str, float], ...] = ()
    """(name, value), such as the budget."""
    tick: Callable[[float, float], str] = axis.label
    """A value and the distance of the ticks as text."""
    from_zero: bool = False
    interval: tuple[float, float, float] | None = None
    """(step, low, high): an 80 % interval where the run ends."""


@dataclass(frozen=True, slots=True)
class Content:
    """All of a report."""

    title: str
    subtitle: str
    headline: tuple[tuple[str, str, str], ...]
    """(name, value, remark)."""
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]
    alerts: tuple[Alert, ...]
    notes: tuple[str, ...]


def content(frame: Frame, whatifs: Sequence[WhatIf] = ()) -> Content:
    """The report of a run at one moment."""
    return Content(
        title=text.printable(name_of(frame)),
        subtitle=text.printable(" · ".join(_subtitle(frame))),
        headline=tuple(_headline(frame)),
        tables=tuple(table for table in (_meters(frame), _phases(frame), _whatifs(whatifs)) if table.rows),
        charts=tuple(chart for chart in _charts(frame) if any(len(one.points) > 1 for one in chart.series)),
        alerts=frame.alerts,
        notes=tuple(
            text.printable(note)
            for note in dict.fromkeys((*frame.bill.notes, *frame.projection.notes, *input_notes(frame)))
        ),
    )


def _subtitle(frame: Frame) -> Iterator[str]:
    info = frame.info
    gpus = f"{info.gpus} × {info.gpu_type or 'GPU'}" if info.gpus else ""
    yield from (part for part in (info.model, info.framework, gpus) if part)
    last, total = frame.state.last_row, frame.info.total_steps
    yield f"{frame.status}, step {last.step if last else text.UNKNOWN}" + (f" of {total}" if total else "")
    yield text.duration(frame.elapsed_s)


def _headline(frame: Frame) -> Iterator[tuple[str, str, str]]:
    bill, projection = frame.bill, frame.projection
    book = f", prices of {bill.price_book.date}" if bill.price_book else ""
    yield "so far", text.usd(bill.spent_usd), f"{bill.basis}{book}"
    final = projection.final_usd
    if final is not None and frame.status != "finished":
        cap = f", at the cap {text.usd(final.at_cap)}" if final.at_cap is not None else ""
        yield "at the end", text.usd(final.p50), f"80 %: {text.usd(final.p10)} – {text.usd(final.p90)}{cap}"
    if projection.budget_usd is not None:
        over = text.percent(projection.p_over_budget)
        yield "budget", text.usd(projection.budget_usd), f"over budget {over}"
    length = frame.health.response_length
    grown = f"{text.ratio(length.growth)} since start" if length.growth is not None else ""
    yield "response length", text.tokens_unit(length.last), grown
    clip = frame.health.clip_ratio
    yield "clip ratio", text.percent(clip.last if clip.reliable else None), clip.why
    yield "reward", text.number(frame.health.reward), ""


def _meters(frame: Frame) -> Table:
    rows = tuple(
        (
            meter.name.replace("_", " "),
            f"{meter.hours:.2f} GPU-h" if meter.hours is not None else text.tokens(meter.tokens),
            text.usd(meter.usd),
        )
        for meter in frame.bill.meters
    )
    return Table("The bill", ("meter", "amount", "dollars"), rows)


def _phases(frame: Frame) -> Table:
    rows = tuple(
        (
            phase.name.replace("_", " "),
            text.duration(phase.seconds),
            text.usd(phase.usd),
            text.percent(phase.share),
        )
        for phase in frame.bill.phases
    )
    return Table("Where the hours went", ("phase", "time", "dollars", "share"), rows)


def _whatifs(whatifs: Sequence[WhatIf]) -> Table:
    rows = tuple(
        (one.label, text.usd(one.usd), text.usd_change(one.difference_usd), one.how) for one in whatifs
    )
    return Table("Had it been otherwise", ("", "dollars", "change", "by"), rows, words=True)


def _charts(frame: Frame) -> Iterator[Chart]:
    history = frame.state.history
    final, budget, cap = frame.projection.final_usd, frame.projection.budget_usd, frame.info.max_tokens
    spent = Series("spent", _derived(history, frame.spent_usd), "ours")
    at_end = Series("at the end, as known then", _derived(history, frame.at_end), "projected")
    end = frame.info.last_step
    running = final is not None and end is not None and frame.status != "finished"
    yield Chart(
        "Cost",
        (spent, at_end),
        levels=(("budget", budget),) if budget is not None else (),
        tick=axis.dollars,
        from_zero=True,
        interval=(float(end), final.p10, final.p90) if running and final and end is not None else None,
    )
    yield Chart(
        "Response length, tokens",
        (
            _column(history, "response_length_mean", "mean"),
            _column(history, "response_length_max", "longest", "faint"),
        ),
        levels=(("cap", float(cap)),) if cap else (),
        tick=axis.token_count,
        from_zero=True,
    )
    yield Chart(
        "Clip ratio", (_column(history, "clip_ratio", "clip ratio"),), tick=axis.share, from_zero=True
    )
    for title, name in (
        ("Reward", "reward_mean"),
        ("KL", "kl"),
        ("Entropy", "entropy"),
        ("Gradient norm", "grad_norm"),
    ):
        yield Chart(title, (_column(history, name, title.lower()),))
    yield Chart("Step time, seconds", (_column(history, "duration_s", "step time"),), from_zero=True)


def _column(history: History, name: str, label: str, kind: str = "ours") -> Series:
    return Series(label, tuple((float(step), value) for step, value in history.series(name)), kind)


def _derived(history: History, values: Sequence[float]) -> tuple[Point, ...]:
    """A value of each closed row by its step. Steps that ran twice stand where they were paid last."""
    by_step = {float(history.steps[index]): value for index, value in enumerate(values) if value == value}
    return tuple(sorted(by_step.items()))
