"""A frame as the values that `check` prints, as JSON or as a page of text. Pure."""

from typing import Literal

from ..models import text
from ..models.alert import Alert, Severity
from ..models.report import (
    CheckReport,
    CostReport,
    InputReport,
    ProjectionReport,
    RunReport,
    SourceReport,
)
from .frame import Frame
from .ownkeys import suggestions, unheard

ORDER: dict[Severity, int] = {"info": 0, "warning": 1, "critical": 2}
WORTH_A_LINE = 0.001
"""Share of the bill below which a phase is in the JSON alone."""


def report(frame: Frame) -> CheckReport:
    """The frame in the words of schema 1."""
    info, state, projection, bill = frame.info, frame.state, frame.projection, frame.bill
    last = state.last_row
    sources = tuple(state.sources.values())
    return CheckReport(
        run=RunReport(
            framework=info.framework or "unknown",
            name=name_of(frame),
            model=info.model,
            sources=tuple(SourceReport(kind=s.source, path=s.path) for s in sources),
            platform=info.platform or "unknown",
            state=frame.status,
            step=last.step if last else None,
            steps_done=state.steps_done,
            total_steps=info.total_steps,
            elapsed_s=frame.elapsed_s,
            gpus=info.gpus,
            gpu_type=info.gpu_type,
            max_tokens=info.max_tokens,
        ),
        cost=CostReport(
            basis=bill.basis,
            spent_usd=bill.spent_usd,
            meters=bill.meters,
            price_book=bill.price_book,
            last_step_usd=bill.last_step_usd,
            notes=bill.notes,
            phases=bill.phases,
        ),
        projection=ProjectionReport(
            final_usd=projection.final_usd,
            remaining_s=projection.remaining_s,
            response_length_at_end=projection.response_length_at_end,
            budget_usd=projection.budget_usd,
            p_over_budget=projection.p_over_budget,
            budget_breaks_at_step=projection.budget_breaks_at_step,
            notes=projection.notes,
        ),
        health=frame.health,
        alerts=frame.alerts,
        input=InputReport(
            lines=sum(s.lines for s in sources),
            bad_lines=sum(s.bad_lines for s in sources),
            notes=input_notes(frame),
        ),
    )


def name_of(frame: Frame) -> str:
    """What the run is called: by itself, or by where it was read."""
    return frame.info.name or next((s.path for s in frame.state.sources.values()), "run")


def input_notes(frame: Frame) -> tuple[str, ...]:
    """What the user should know of the input: how facts were had, bad lines, unreadable files."""
    notes = list(frame.info.notes)
    for source in frame.state.sources.values():
        if source.bad_lines:
            first = f", the first at {source.first_bad}" if source.first_bad else ""
            notes.append(f"{source.path}: {source.bad_lines} lines could not be read{first}")
        if source.state in ("waiting", "denied", "lost") and source.reason:
            notes.append(source.reason)
        notes.extend(source.notes)
    if frame.info.framework in (None, "unknown"):
        notes.extend(suggestions(frame.state.history, frame.state.history.raw, frame.settings.keys))
    notes.extend(unheard(frame.state.history, frame.settings.keys))
    notes.extend(frame.remarks)
    return tuple(dict.fromkeys(notes))


def worst(alerts: tuple[Alert, ...]) -> Severity | None:
    """The highest severity among alerts that have not been cleared."""
    standing = {alert.severity for alert in alerts if alert.cleared_step is None}
    return next((severity for severity in reversed(ORDER) if severity in standing), None)


def fails(frame: Frame, level: Severity | Literal["never"]) -> bool:
    """Whether an alert of this severity or a higher one stands."""
    stands = worst(frame.alerts)
    return level != "never" and stands is not None and ORDER[stands] >= ORDER[level]


def page(frame: Frame) -> str:
    """The frame as a short page of text."""
    return "\n".join(
        text.printable(line)
        for line in (
            _heading(frame),
            _progress(frame),
            "",
            _cost(frame),
            *_meters(frame),
            _projection(frame),
            _budget(frame),
            *(f"          {note}" for note in (*frame.bill.notes, *frame.projection.notes)),
            "",
            _length(frame),
            _health(frame),
            *_alerts(frame),
            *(f"note      {note}" for note in input_notes(frame)),
        )
        if line is not None
    )


def _heading(frame: Frame) -> str:
    info = frame.info
    gpus = f"{info.gpus}×{info.gpu_type or 'GPU'}" if info.gpus else ""
    parts = (info.name, info.model, info.framework, gpus)
    return "  ".join(part for part in parts if part) or "run"


def _progress(frame: Frame) -> str:
    last, total = frame.state.last_row, frame.info.total_steps
    step = text.UNKNOWN if last is None else str(last.step)
    of = "" if total is None else f" · {frame.state.steps_done} of {total} done"
    return f"{frame.status}  step {step}{of} · {text.duration(frame.elapsed_s)}"


def _cost(frame: Frame) -> str:
    book = frame.bill.price_book
    prices = f"  prices of {book.date}" if book else ""
    return f"COST      {text.usd(frame.bill.spent_usd)} so far  ({frame.bill.basis}){prices}"


def _meters(frame: Frame) -> list[str]:
    rows: list[str] = []
    for meter in frame.bill.meters:
        amount = f"{meter.hours:.2f} GPU-h" if meter.hours else text.tokens(meter.tokens)
        rows.append(f"  {meter.name:<15}{amount:>12}{text.usd(meter.usd):>12}")
        if meter.name == "gpu":
            rows += _phases(frame)
    return rows


def _phases(frame: Frame) -> list[str]:
    """Where the hours went, but for what took next to nothing of them."""
    return [
        f"    {phase.name:<13}{text.duration(phase.seconds):>12}{text.usd(phase.usd):>12}"
        f"{text.percent(phase.share):>8}"
        for phase in frame.bill.phases
        if phase.share >= WORTH_A_LINE
    ]


def _projection(frame: Frame) -> str | None:
    final = frame.projection.final_usd
    if final is None:
        return None
    cap = f"   at the cap {text.usd(final.at_cap)}" if final.at_cap is not None else ""
    left = frame.projection.remaining_s
    ends = f"   ends in {text.duration(left.p50)}" if left and frame.status == "running" else ""
    between = f"80 %: {text.usd(final.p10)} – {text.usd(final.p90)}"
    gone_on = " had it gone on" if frame.status == "crashed" else ""
    return f"AT END    {text.usd(final.p50)}{gone_on}   {between}{cap}{ends}"


def _budget(frame: Frame) -> str | None:
    projection = frame.projection
    if projection.budget_usd is None:
        return None
    over = text.percent(projection.p_over_budget)
    breaks = projection.budget_breaks_at_step
    when = f", breaks at step {breaks}" if breaks is not None else ""
    return f"BUDGET    {text.usd(projection.budget_usd)}   over budget {over}{when}"


def _length(frame: Frame) -> str:
    length, end = frame.health.response_length, frame.projection.response_length_at_end
    grown = f"  ×{length.growth:.2f} since start" if length.growth is not None else ""
    at_end = (
        f"  at the end {text.tokens(end.p50)} ({text.tokens(end.p10)} – {text.tokens(end.p90)})"
        if end
        else ""
    )
    cap = f"  cap {text.tokens(frame.info.max_tokens)}" if frame.info.max_tokens else ""
    return f"LENGTH    {text.tokens(length.last)} tok{grown}{at_end}{cap}"


def _health(frame: Frame) -> str:
    health = frame.health
    clip = text.percent(health.clip_ratio.last) if health.clip_ratio.reliable else text.UNKNOWN
    return (
        f"HEALTH    clip {clip}   MFU {_mfu(frame)}"
        f"   {text.number(health.tokens_per_s)} tok/s   reward {text.number(health.reward)}"
        f"   KL {text.number(health.kl)}   entropy {text.number(health.entropy)}"
    )


def _mfu(frame: Frame) -> str:
    """The three figures that go by this name, each with what it is of."""
    mfu = frame.health.mfu
    parts = [f"{text.percent(mfu.whole_step)} whole step"] if mfu.whole_step is not None else []
    if mfu.logged is not None:
        parts.append(f"{text.percent(mfu.logged)} update as logged")
    if mfu.corrected is not None:
        parts.append(f"{text.percent(mfu.corrected)} corrected{' for LoRA' if frame.info.lora_rank else ''}")
    return " · ".join(parts) or text.UNKNOWN


def _alerts(frame: Frame) -> list[str]:
    signs = {"critical": "✖", "warning": "▲", "info": "·"}
    return [
        f"{signs[a.severity]} {a.severity:<9}{a.message}   since {a.step}   {a.advice}"
        for a in frame.alerts
        if a.cleared_step is None
    ]
