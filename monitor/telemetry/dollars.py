"""What became of the GPUs' time and power while they were watched, and what that costs. Pure.

The one rule: only what was seen counts. A gap in the readings is neither busy nor idle, and what is said of
the end is what was seen so far, and the rest of the run at the same rate.
"""

from dataclasses import dataclass, replace

from ...models.gpu import Gpu, GpuSample, GpuUse, PhaseUse
from ...models.value import Quantiles
from ..history import Row
from .trace import GpuTrace

IDLE_UTIL = 10.0
"""Percent of the time in any kernel: below it a GPU counts as idle. The same as the alert's limit."""
GAP_S = 120.0
"""Readings further apart than this say nothing of the time between them. The slowest exporter in use tells
something every 30 s."""
HOUR_S, KWH_J = 3600.0, 3.6e6
IN_ORDER = (
    "generate", "reward", "old_logprob", "ref", "update_critic", "update", "weight_sync", "eval",
    "checkpoint", "other",
)  # fmt: skip
"""How synchronous trainers go through a step."""
TOLD_SHARE = 0.9
"""Phases that account for less of a step than this cannot be laid out in time."""


@dataclass(frozen=True, slots=True)
class GpuTally:
    """Sums over all GPUs, in seconds of one GPU."""

    watched_s: float = 0.0
    """Seconds of which it is known whether the GPU was busy."""
    idle_s: float = 0.0
    energy_j: float = 0.0
    powered_s: float = 0.0
    """Seconds of which the energy is known."""
    tensor: float = 0.0
    """Tensor activity, 0 to 1, times seconds."""
    tensor_s: float = 0.0

    def add(self, before: GpuSample | None, now: GpuSample) -> "GpuTally":
        """With the time between two samples of one host. The work is that of one look at its GPUs."""
        span_s = 0.0 if before is None else now.at - before.at
        if before is None or not 0 < span_s <= GAP_S:
            return self
        earlier = {gpu.index: gpu for gpu in before.gpus}
        watched = idle = powered = tensor_known = 0
        energy_j = tensor = 0.0
        for gpu in now.gpus:
            if gpu.state == "lost":
                watched, idle = watched + 1, idle + 1
                continue
            if gpu.util is not None:
                watched, idle = watched + 1, idle + (gpu.util < IDLE_UTIL)
            if gpu.tensor_active is not None:
                tensor, tensor_known = tensor + gpu.tensor_active / 100, tensor_known + 1
            if (joules := _energy_j(earlier.get(gpu.index), gpu, span_s)) is not None:
                energy_j, powered = energy_j + joules, powered + 1
        return replace(
            self,
            watched_s=self.watched_s + watched * span_s,
            idle_s=self.idle_s + idle * span_s,
            energy_j=self.energy_j + energy_j,
            powered_s=self.powered_s + powered * span_s,
            tensor=self.tensor + tensor * span_s,
            tensor_s=self.tensor_s + tensor_known * span_s,
        )


def _energy_j(before: Gpu | None, now: Gpu, span_s: float) -> float | None:
    """By the counter, which may stand still between two of its own looks; else by the power at both ends."""
    if before is None:
        return None
    if before.energy_j is not None and now.energy_j is not None and now.energy_j >= before.energy_j:
        return now.energy_j - before.energy_j
    if before.power_w is None or now.power_w is None:
        return None
    return (before.power_w + now.power_w) / 2 * span_s


def use_of(
    tally: GpuTally,
    gpus: int,
    usd_per_gpu_hour: float | None = None,
    usd_per_kwh: float | None = None,
    remaining_s: Quantiles | None = None,
    mfu: float | None = None,
) -> GpuUse:
    """What the sums mean for `gpus` GPUs of a run with `remaining_s` to go; `mfu` is the log's, 0 to 1."""
    idle_h = tally.idle_s / HOUR_S if tally.watched_s else None
    idle_share = tally.idle_s / tally.watched_s if tally.watched_s else None
    idle_at_end = _at_end(idle_h, gpus / HOUR_S, idle_share, remaining_s)
    energy_kwh = tally.energy_j / KWH_J if tally.powered_s else None
    watts = tally.energy_j / tally.powered_s if tally.powered_s else None
    energy_at_end = _at_end(energy_kwh, gpus / KWH_J, watts, remaining_s)
    return GpuUse(
        gpus=gpus,
        watched_gpu_hours=tally.watched_s / HOUR_S,
        idle_gpu_hours=idle_h,
        idle_gpu_hours_at_end=idle_at_end,
        idle_usd=_times(idle_h, usd_per_gpu_hour),
        idle_usd_at_end=_all_times(idle_at_end, usd_per_gpu_hour),
        energy_kwh=energy_kwh,
        energy_kwh_at_end=energy_at_end,
        energy_usd=_times(energy_kwh, usd_per_kwh),
        energy_usd_at_end=_all_times(energy_at_end, usd_per_kwh),
        tensor_share=tally.tensor / tally.tensor_s if tally.tensor_s else None,
        mfu=mfu,
    )


def phases_of(trace: GpuTrace, row: Row) -> tuple[PhaseUse, ...]:
    """What the GPUs did in each phase of a step; empty where it was not watched or not timed."""
    ended_at, duration_s = row.get("ended_at"), row.get("duration_s")
    told = {name: seconds for name, seconds in row.phases().items() if seconds > 0}
    if ended_at is None or not duration_s or not told:
        return ()
    begin = ended_at - duration_s
    if not TOLD_SHARE <= sum(told.values()) / duration_s <= 1.01 or not trace.covers(begin, ended_at):
        return ()
    phases: list[PhaseUse] = []
    for name in IN_ORDER:
        if (seconds := told.get(name)) is not None:
            util, tensor = trace.means(begin, begin + seconds)
            phases.append(PhaseUse(name=name, seconds=seconds, util=util, tensor_active=tensor))
            begin += seconds
    return tuple(phases)


def _at_end(
    so_far: float | None, per_second: float, rate: float | None, remaining_s: Quantiles | None
) -> Quantiles | None:
    if so_far is None or rate is None or remaining_s is None:
        return None
    each = [
        so_far + per_second * rate * seconds
        for seconds in (remaining_s.p10, remaining_s.p50, remaining_s.p90)
    ]
    return Quantiles(p10=each[0], p50=each[1], p90=each[2])


def _times(amount: float | None, rate: float | None) -> float | None:
    return None if amount is None or rate is None else amount * rate


def _all_times(amounts: Quantiles | None, rate: float | None) -> Quantiles | None:
    if amounts is None or rate is None:
        return None
    return Quantiles(p10=amounts.p10 * rate, p50=amounts.p50 * rate, p90=amounts.p90 * rate)
