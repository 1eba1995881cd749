"""A reading as plain text of at most 80 columns. Its one rule: what is not known is a dash."""

from ...models import text
from ...models.gpu import Gpu, GpuSample, Serving

NAME = 20
STATES = {"ok": "", "lost": "✖ lost", "throttled": "▲ throttled", "unknown": "? no answer"}


def page(told: GpuSample | Serving) -> str:
    """A table of GPUs, with a line above it on where it is from and one below on what is wrong; an engine."""
    return _engine(told) if isinstance(told, Serving) else _table(told)


def _table(sample: GpuSample) -> str:
    title = f"{'GPU':>3}  {'name':<{NAME}}{'busy':>6}{'tensor':>8}{'memory':>13}{'power':>8}{'temp':>7}"
    lines = [f"{sample.host} · {sample.backend}", title, *(_row(gpu) for gpu in sample.gpus)]
    return "\n".join([*lines, sample.note] if sample.note else lines)


def _row(gpu: Gpu) -> str:
    name = (gpu.name or text.UNKNOWN).removeprefix("NVIDIA ")
    if len(name) > NAME:
        name = f"{name[: NAME - 1]}…"
    cells = (
        f"{gpu.index:>3}  {name:<{NAME}}{_share(gpu.util):>6}{_share(gpu.tensor_active):>8}"
        f"{_memory(gpu):>13}{_rounded(gpu.power_w, 'W'):>8}{_rounded(gpu.temp_c, '°C'):>7}"
    )
    return f"{cells}  {STATES[gpu.state]}".rstrip()


def _engine(told: Serving) -> str:
    head = f"{told.host} · {told.engine}{' · ' + told.model if told.model else ''}"
    asleep = " · asleep" if told.asleep else ""
    rate = text.tokens(told.generation_tokens_per_s)
    line = (
        f"  {text.integer(told.running)} running, {text.integer(told.waiting)} waiting{asleep} · "
        f"KV cache {text.percent(told.kv_cache_use)} · prefix hits {text.percent(told.prefix_hit_rate)} · "
        f"{rate} tok/s"
    )
    return "\n".join([head, line, told.note] if told.note else [head, line])


def _share(points: float | None) -> str:
    return text.UNKNOWN if points is None else f"{points:.0f} %"


def _rounded(value: float | None, unit: str) -> str:
    return text.UNKNOWN if value is None else f"{value:.0f} {unit}"


def _memory(gpu: Gpu) -> str:
    if gpu.mem_used_gb is None or gpu.mem_total_gb is None:
        return text.UNKNOWN
    return f"{gpu.mem_used_gb:.0f}/{gpu.mem_total_gb:.0f} GB"
