"""A comparison in words: the lines of its table, the same on the screen and as text. Pure."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..models import text
from ..models.comparison import Comparison, Measure, Standing


class Line(NamedTuple):
    """A line of the table: what it is about, and how each run has it."""

    title: str
    cells: tuple[str, ...]
    change: str = ""
    """Of two runs, the second against the first."""


WRITTEN: dict[Measure, Callable[[float | None], str]] = {
    "step": lambda x: text.UNKNOWN if x is None else f"{x:.0f} step{'s' if x != 1 else ''} done",
    "time": text.duration,
    "tokens": text.tokens_unit,
    "dollars": text.usd,
}
Read = Callable[[Standing], float | None]
Write = Callable[[float | None], str]


def _seconds(x: float | None) -> str:
    """The time of a step: in seconds while these are few."""
    return text.duration(x) if x is None or x >= 999.5 else f"{x:.0f} s" if x >= 9.95 else f"{x:.1f} s"


_NOW: tuple[tuple[str, Read, Write], ...] = (
    ("cost so far", lambda run: run.spent_usd, text.usd),
    ("cost at the end", lambda run: run.final_usd.p50 if run.final_usd else None, text.usd),
    ("cost of a step", lambda run: run.usd_per_step, text.usd),
    ("cost of 1M sampled", lambda run: run.usd_per_mtok, text.usd),
    ("wall time", lambda run: run.elapsed_s, text.duration),
    ("time of a step", lambda run: run.seconds_per_step, _seconds),
    ("tokens a second", lambda run: run.tokens_per_s, text.tokens_compact),
    ("tokens sampled", lambda run: run.sampled_tokens, text.tokens_compact),
    ("response length", lambda run: run.response_length, text.tokens),
    ("  at first", lambda run: run.response_length_first, text.tokens),
    ("  at the end", lambda run: run.response_length_at_end, text.tokens),
    ("cut at the cap", lambda run: run.clip_ratio, text.percent),
    ("reward", lambda run: run.reward, text.number),
    ("  at first", lambda run: run.reward_first, text.number),
    ("eval score", lambda run: run.eval_score, text.number),
    ("KL", lambda run: run.kl, text.number),
    ("entropy", lambda run: run.entropy, text.number),
    ("MFU", lambda run: run.mfu, text.percent),
)


def now(comparison: Comparison) -> list[Line]:
    """The runs as they stand; what no run tells is left out."""
    runs = comparison.runs
    lines = [
        Line("state", tuple(run.state for run in runs)),
        Line("steps", tuple(_steps(run) for run in runs)),
    ]
    for title, read, write in _NOW:
        values = [read(run) for run in runs]
        if any(value is not None for value in values):
            lines.append(_line(title, values, write))
    return lines


def shared(comparison: Comparison) -> list[Line]:
    """The runs where the one that is least far is now."""
    found = comparison.shared
    if found is None:
        return []
    parts: tuple[tuple[str, Sequence[float | None], Write], ...] = (
        ("cost", found.spent_usd, text.usd),
        ("wall time", found.elapsed_s, text.duration),
        ("tokens sampled", found.sampled_tokens, text.tokens_compact),
        ("response length", found.response_length, text.tokens),
        ("reward", found.reward, text.number),
    )
    numbers = tuple(text.UNKNOWN if step is None else str(step) for step in found.steps)
    return [
        Line("step as numbered", numbers),
        *(
            _line(title, values, write)
            for title, values, write in parts
            if any(v is not None for v in values)
        ),
    ]


def facts(comparison: Comparison) -> list[Line]:
    """The facts in which the runs differ."""
    return [
        Line(text.printable(one.name), tuple(text.printable(value or text.UNKNOWN) for value in one.values))
        for one in comparison.differences
    ]


def shared_title(comparison: Comparison) -> str:
    """Where the runs are compared, in words."""
    at = None if comparison.shared is None else comparison.shared.at
    return f"AT {WRITTEN[comparison.by](at)}"


def page(comparison: Comparison) -> str:
    """The comparison as text: for pipes, logs and screen readers."""
    names = tuple(text.printable(run.name) for run in comparison.runs)
    blocks = [("NOW", now(comparison)), (shared_title(comparison), shared(comparison))]
    blocks.append(("DIFFERENT", facts(comparison)))
    every = [Line("", names), *(line for _, lines in blocks for line in lines)]
    first = max(len(line.title) for line in every) + 2
    widths = [max(len(line.cells[i]) for line in every) + 2 for i in range(len(names))]
    written: list[str] = [_row(Line("", names), first, widths)]
    for title, lines in blocks:
        if lines:
            written += ["", title, *(_row(line, first, widths) for line in lines)]
    return "\n".join(written)


def _row(line: Line, first: int, widths: Sequence[int]) -> str:
    cells = "".join(f"{cell:>{width}}" for cell, width in zip(line.cells, widths, strict=True))
    return f"{line.title:<{first}}{cells}  {line.change}".rstrip()


def _line(title: str, values: Sequence[float | None], write: Write) -> Line:
    change = ""
    if len(values) == 2 and values[0] is not None and values[1] is not None and values[0] > 0:
        ratio = values[1] / values[0]
        change = "" if abs(ratio - 1) < 0.005 or ratio < 0 else text.ratio(ratio)
    return Line(title, tuple(write(value) for value in values), change)


def _steps(run: Standing) -> str:
    return f"{run.steps_done}/{run.total_steps}" if run.total_steps else f"{run.steps_done}"
