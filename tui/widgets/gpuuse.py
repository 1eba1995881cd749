"""What became of the GPUs' time: idle hours and energy in dollars, tensor cores and MFU, phases, engines."""

from collections.abc import Callable, Iterator

from ...models import text
from ...models.gpu import GpuUse, PhaseUse, Serving
from ...models.value import Quantiles
from ...monitor.frame import Frame
from ..gpus.metric import points
from ..lines import Line, Part, Span, part, row
from .panel import Panel


class GpuUsePanel(Panel):
    """Hides itself until there is something to say."""

    def present(self, frame: Frame) -> bool:
        return frame.gpu_use is not None or bool(frame.state.serving)

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        lines: list[Line] = []
        if (use := frame.gpu_use) is not None:
            lines += [row(list(parts), width) for parts in (_idle(use), _energy(use), _tensor(use)) if parts]
            if use.phases:
                lines.append(row(list(_phases(use)), width))
        lines += [row(list(_engine(serving)), width) for _, serving in sorted(frame.state.serving.items())]
        return lines[:height]


def _title(words: str) -> Span:
    return Span(f"{words:<9}", "title")


def _idle(use: GpuUse) -> list[Part]:
    share = use.idle_gpu_hours / use.watched_gpu_hours if use.watched_gpu_hours else None
    return [
        part(
            0,
            _title("IDLE"),
            Span(_hours(use.idle_gpu_hours)),
            Span(f"  {text.percent(share)} of the time", "dim"),
        ),
        part(1, Span(text.usd(use.idle_usd), "ours"), Span(" so far", "dim")),
        *_at_end(_hours, use.idle_gpu_hours_at_end, use.idle_usd_at_end),
        part(4, Span(f"watched {_hours(use.watched_gpu_hours)}", "dim")),
    ]


def _energy(use: GpuUse) -> list[Part]:
    if use.energy_kwh is None:
        return []
    price = (
        part(1, Span(text.usd(use.energy_usd), "ours"), Span(" so far", "dim"))
        if use.energy_usd is not None
        else part(3, Span("no price: usd_per_kwh in rltop.toml", "dim"))
    )
    return [
        part(0, _title("ENERGY"), Span(_kwh(use.energy_kwh))),
        price,
        *_at_end(_kwh, use.energy_kwh_at_end, use.energy_usd_at_end),
    ]


def _tensor(use: GpuUse) -> list[Part]:
    if use.tensor_share is None and use.mfu is None:
        return []
    return [
        part(
            0, _title("TENSOR"), Span(text.percent(use.tensor_share)), Span(" of the time, measured", "dim")
        ),
        part(1, Span("MFU ", "dim"), Span(text.percent(use.mfu)), Span(" by the log", "dim")),
    ]


def _phases(use: GpuUse) -> Iterator[Part]:
    yield part(0, _title("PHASES"), Span(f"step {use.phase_step}", "dim"))
    for rank, phase in enumerate(use.phases, start=1):
        yield part(rank, *_phase(phase))


def _phase(phase: PhaseUse) -> Line:
    tensor = f", tensor {points(phase.tensor_active)}" if phase.tensor_active is not None else ""
    return (
        Span(f"{phase.name.replace('_', ' ')} ", "dim"),
        Span(text.duration(phase.seconds)),
        Span(f" busy {points(phase.util)}{tensor}", "dim"),
    )


def _engine(serving: Serving) -> Iterator[Part]:
    stale = f"  stale {text.duration(serving.stale_s)}" if serving.stale_s is not None else ""
    yield part(
        0, _title("ENGINE"), Span(f"{serving.engine} ", "dim"), Span(serving.host), Span(stale, "warn")
    )
    if serving.asleep:
        yield part(1, Span("asleep: training has its memory", "dim"))
        return
    yield part(1, Span("running ", "dim"), Span(text.integer(serving.running)))
    yield part(2, Span("waiting ", "dim"), Span(text.integer(serving.waiting)))
    yield part(3, Span("KV cache ", "dim"), Span(text.percent(serving.kv_cache_use)))
    yield part(5, Span("prefix hits ", "dim"), Span(text.percent(serving.prefix_hit_rate)))
    speed = serving.generation_tokens_per_s
    yield part(4, Span(text.tokens_compact(speed)), Span(" tok/s", "dim"))


def _at_end(write: Callable[[float], str], amount: Quantiles | None, usd: Quantiles | None) -> list[Part]:
    if amount is None:
        return []
    dollars = (Span(f"  {text.usd(usd.p50)}", "projected"),) if usd is not None else ()
    between = f"  80 %: {write(amount.p10)} – {write(amount.p90)}"
    return [
        part(
            2,
            Span("at the end ", "dim"),
            Span(write(amount.p50), "projected"),
            *dollars,
            Span(between, "dim"),
        )
    ]


def _hours(value: float) -> str:
    return f"{text.number(value)} GPU-h"


def _kwh(value: float) -> str:
    return f"{text.number(value)} kWh"
