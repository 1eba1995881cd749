"""The top of the screen: which run, how it stands, how far it is and when it ends."""

from ...models import text
from ...models.run import RunStatus
from ...models.text import printable
from ...models.value import Quantiles
from ...monitor.frame import Frame
from ..glyphs import EMPTY, FULL, STATUS
from ..lines import Line, Span, cells, cut, part, spread
from ..readings import seconds_per_step, steps_done
from .panel import Panel

FRAMEWORKS = {
    "tinker": "Tinker",
    "verl": "veRL",
    "slime": "SLiME",
    "trl": "TRL",
    "nemo-rl": "NeMo-RL",
    "prime-rl": "PRIME-RL",
    "openrlhf": "OpenRLHF",
    "skyrl": "SkyRL",
    "areal": "AReaL",
    "roll": "ROLL",
}
STATUS_INK: dict[RunStatus, str] = {
    "running": "good",
    "stalled": "warn",
    "crashed": "bad",
    "finished": "good",
    "unknown": "dim",
}
GAP = 3
BAR, SHORTEST_BAR = 40, 8
"""Cells of the progress bar."""


class Status(Panel):
    """Two lines that are on every screen."""

    def idle(self, width: int, height: int) -> list[Line]:
        return [(Span("rltop", "strong"), Span("   starting …", "dim")), ()]

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        return [_who(frame, width), _how_far(frame, width)]


def _who(frame: Frame, width: int) -> Line:
    info, status = frame.info, frame.status
    name = printable(info.name or _file(frame) or "unnamed run")
    word = "waiting" if status == "unknown" and not len(frame.state.history) else status
    model = (info.model or "").rsplit("/", 1)[-1]
    framework = FRAMEWORKS.get(info.framework or "", "")
    return spread(
        [
            part(0, Span(cut(name, max(width // 3, 12)), "strong")),
            part(3, *([Span(cut(model, max(width // 3, 12)))] if model else [])),
            part(4, *([Span(framework)] if framework else [])),
            part(2, *([Span(machines)] if (machines := _machines(frame)) else [])),
        ],
        [
            part(0, Span(f"{STATUS[status]} {word}", STATUS_INK[status])),
            part(1, Span(text.duration_compact(frame.elapsed_s))),
        ],
        width,
        gap=2,
    )


def _file(frame: Frame) -> str:
    """The end of the path that the run is read from, for want of a name."""
    status = next(iter(frame.state.sources.values()), None)
    return "" if status is None else "/".join(status.path.rstrip("/").split("/")[-2:])


def _machines(frame: Frame) -> str:
    info = frame.info
    if not info.gpus:
        return ""
    gpus = f"{info.gpus}×{info.gpu_type or 'GPU'}"
    per_gpu = frame.settings.usd_per_gpu_hour
    hourly = per_gpu * info.gpus if per_gpu is not None else _hourly(frame)
    return gpus if hourly is None else f"{gpus} {text.usd_per_hour(hourly)}"


def _hourly(frame: Frame) -> float | None:
    """The bill's own rate: what all GPUs together cost for an hour."""
    gpu = next((meter for meter in frame.bill.meters if meter.name == "gpu"), None)
    if gpu is None or not gpu.hours or gpu.usd is None or not frame.info.gpus:
        return None
    return gpu.usd / gpu.hours * frame.info.gpus


def _how_far(frame: Frame, width: int) -> Line:
    total, done = frame.info.total_steps, steps_done(frame)
    if not len(frame.state.history):
        return ()
    left = [part(0, Span(f"step {done}/{total}" if total else f"step {done}", "strong"))]
    if total:
        left.append(part(4, Span(f"{min(done / total, 1.0) * 100:3.0f} %")))
    if (pace := seconds_per_step(frame)) is not None:
        left.append(part(3, Span(f"{text.number(pace)} s/step")))
    right = [part(1, *_end(frame))]
    taken = sum(cells(some.spans) + GAP for some in (*left, *right))
    if total and (room := min(width - taken, BAR)) >= SHORTEST_BAR:
        full = round(min(done / total, 1.0) * room)
        left.insert(1, part(2, Span(FULL * full, "ours"), Span(EMPTY * (room - full), "axis")))
    return spread(left, right, width, GAP)


def _end(frame: Frame) -> Line:
    if frame.status in ("finished", "crashed"):
        return ()
    remaining = frame.projection.remaining_s
    if remaining is not None:
        # Only what goes on ends: of a run that stands still there is so much to go, once it does.
        return (
            Span("ends in " if frame.status == "running" else "to go ", "dim"),
            Span(text.duration_compact(remaining.p50), "projected"),
            Span(f" {_spread(remaining)}", "dim"),
        )
    if frame.info.total_steps is None:
        return (Span("end unknown: --total-steps N", "dim"),)
    return (Span("ends in –", "dim"),)


def _spread(remaining: Quantiles) -> str:
    """How sure the end is: ± where that is fair to both sides, both ends of the range where it is not."""
    early, late = remaining.p50 - remaining.p10, remaining.p90 - remaining.p50
    if max(early, late) <= 2 * min(early, late) and early < remaining.p50 / 2:
        return f"±{text.duration_compact((early + late) / 2)}"
    return f"({text.duration_compact(remaining.p10)}–{text.duration_compact(remaining.p90)})"
