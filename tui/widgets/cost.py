"""What the run has cost, what it will have cost, and whether that is within the budget."""

from ...models import text
from ...models.money import Meter
from ...monitor.frame import Frame
from ..lines import Line, Part, Span, part, row, wrapped
from ..readings import first_step, last_step, steps_done
from .panel import Panel

METERS = {
    "sample": "sample",
    "prefill": "prefill",
    "prefill_cached": "cached",
    "train": "train",
    "eval_sample": "eval sample",
    "eval_prefill": "eval prefill",
    "scoring": "scoring",
    "discarded": "discarded",
    "gpu": "GPU",
    "storage": "storage",
}
LABEL = 8
"""Cells of the title column, so that the lines below start where the first does."""


class Cost(Panel):
    """The figures that the tool is for."""

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        room = width - LABEL
        lines = [(Span(f"{'COST':{LABEL}}", "title"), *row(_dollars(frame, room < 40), room))]
        below = _unpriced(frame, room) if frame.bill.spent_usd is None else [row(_outlook(frame), room)]
        if width >= 100:
            below.append(row(_meters(frame), room))
        return lines + [(Span(" " * LABEL), *line) for line in below if line]


def _dollars(frame: Frame, terse: bool) -> list[Part]:
    bill, final = frame.bill, frame.projection.final_usd
    if bill.spent_usd is None:
        return [part(0, Span(f"{text.UNKNOWN} ", "strong"), Span("unpriced", "warn"))]
    if terse:
        arrow = (Span(" → ", "dim"), Span(text.usd(final.p50), "projected-big")) if final is not None else ()
        return [part(0, Span(text.usd(bill.spent_usd), "ours-big"), *arrow)]
    parts = [part(0, Span(text.usd(bill.spent_usd), "ours-big"), Span(" so far", "dim"))]
    if frame.status == "finished":
        parts = [part(0, Span(text.usd(bill.spent_usd), "ours-big"), Span(" in all", "dim"))]
    else:
        when = " had it gone on" if frame.status == "crashed" else " at the end"
        expected = text.usd(None if final is None else final.p50)
        parts.append(part(1, Span(expected, "projected-big"), Span(when, "dim")))
        if final is not None:
            interval = f"{text.usd(final.p10)} – {text.usd(final.p90)}"
            parts.append(part(2, Span("80 %: ", "dim"), Span(interval)))
    budget = frame.settings.budget_usd
    if budget is not None or frame.status != "finished":
        parts.append(part(3, Span("budget ", "dim"), Span(text.usd(budget), "budget")))
    return parts


def _unpriced(frame: Frame, room: int) -> list[Line]:
    """Why there are no dollars, and how to get some."""
    notes = frame.bill.notes or (
        "no price for this run: --price PREFILL,SAMPLE,TRAIN or --usd-per-gpu-hour USD",
    )
    return wrapped(notes[0], room, "dim")


def _outlook(frame: Frame) -> list[Part]:
    """How the budget stands, and what may still come."""
    projection, finished = frame.projection, frame.status == "finished"
    parts = [_against_budget(frame)]
    if (breaks := projection.budget_breaks_at_step) is not None and not finished:
        parts.append(part(1, Span("breaks at step ", "dim"), Span(str(breaks)), *_until(frame, breaks)))
    if projection.final_usd is not None and projection.final_usd.at_cap is not None and not finished:
        parts.append(part(2, Span("at the cap ", "dim"), Span(text.usd(projection.final_usd.at_cap))))
    if frame.bill.last_step_usd is not None:
        parts.append(part(3, Span("last step ", "dim"), Span(text.usd(frame.bill.last_step_usd))))
    if frame.settings.budget_usd is None and not finished:
        parts.append(part(4, Span("no budget set: --budget USD", "dim")))
    return parts


def _against_budget(frame: Frame) -> Part:
    budget, spent, chance = frame.settings.budget_usd, frame.bill.spent_usd, frame.projection.p_over_budget
    if budget is not None and spent is not None and spent > budget:
        return part(0, Span(f"✖ over budget by {text.usd(spent - budget)}", "bad"))
    if budget is not None and frame.status == "finished":
        return part(0, Span("✓ within budget", "good"))
    if chance is None:
        return part(0)
    ink = "bad" if chance > 0.9 else "warn" if chance > 0.5 else "plain"
    sign = "✖ " if chance > 0.9 else "▲ " if chance > 0.5 else ""
    return part(0, Span(f"{sign}over budget {text.percent(chance)}", ink))


def _until(frame: Frame, step: int) -> Line:
    """How long until a step, if the remaining ones take equally long."""
    remaining, end = frame.projection.remaining_s, last_step(frame)
    now = first_step(frame) + steps_done(frame) - 1
    if frame.status == "crashed" or remaining is None or end is None or not now < step <= end:
        return ()
    seconds = remaining.p50 * (step - now) / (end - now)
    return (Span(f" in ~{text.duration_compact(seconds)}", "dim"),)


def _meters(frame: Frame) -> list[Part]:
    return [part(rank, *_meter(meter)) for rank, meter in enumerate(frame.bill.meters)]


def _meter(meter: Meter) -> Line:
    """A meter with its amount; on GPUs of one's own the tokens are counted and have no price."""
    amount = text.UNKNOWN if meter.hours is None else f"{text.number(meter.hours)} h"
    if meter.tokens is not None:
        amount = f"{text.tokens_compact(meter.tokens)} tok"
    name = Span(f"{METERS.get(meter.name, meter.name)} {amount}", "dim")
    return (name,) if meter.usd is None else (name, Span(f" {text.usd(meter.usd)}"))
