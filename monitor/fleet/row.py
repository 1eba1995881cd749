"""A frame of a run as one line of a fleet. Pure."""

import math
from itertools import pairwise
from pathlib import Path

from ...models.alert import Severity
from ...models.fleet import FleetRow
from ...models.run import RunInfo
from ...models.value import Quantiles
from ..frame import Frame
from ..status import LEFT_S, last_sign_of_life

TREND = 24
"""Values kept of the response length."""
PROJECT_KEYS = (
    "trainer.project_name",
    "wandb_project",
    "wandb.project",
    "logger.wandb.project",
    "trainer.wandb.project",
    "project_name",
    "project",
)
GRAVITY: dict[Severity, int] = {"critical": 0, "warning": 1, "info": 2}
BELOW_RUN = ("wandb", "swanlog", "tensorboard", "logs", "log")
"""Folders of a run's logs: what they lie in says more."""


def row_of(row: FleetRow, frame: Frame) -> FleetRow:
    """A row brought up to date by a frame of its run."""
    info, health, projection, bill = frame.info, frame.health, frame.projection, frame.bill
    mfu = health.mfu.whole_step if health.mfu.whole_step is not None else health.mfu.logged
    final = projection.final_usd
    alive_at = last_sign_of_life(frame.state)
    left = alive_at is not None and frame.now - alive_at > LEFT_S
    over = left or frame.status in ("finished", "crashed")
    if over and bill.spent_usd is not None:
        # A run that has ended costs no more, whatever it would have cost had it gone on.
        final_usd = Quantiles(p10=bill.spent_usd, p50=bill.spent_usd, p90=bill.spent_usd)
    else:
        final_usd = None if final is None else Quantiles(p10=final.p10, p50=final.p50, p90=final.p90)
    held = [alert for alert in frame.alerts if alert.cleared_step is None]
    return row.model_copy(
        update={
            "name": info.name or row.name,
            "framework": info.framework or "unknown",
            "model": info.model,
            "project": project_of(info, row.id),
            "state": frame.status,
            "problem": _problem(frame),
            "step": frame.state.steps_done or None,
            "total_steps": info.total_steps,
            "elapsed_s": frame.elapsed_s,
            "modified_at": alive_at or row.modified_at,
            "basis": bill.basis,
            "spent_usd": bill.spent_usd,
            "final_usd": final_usd,
            "remaining_s": None if over else projection.remaining_s,
            "length": health.response_length.last,
            "length_growth": health.response_length.growth,
            "lengths": _trend(frame),
            "clip": health.clip_ratio.last if health.clip_ratio.reliable else None,
            "mfu": mfu,
            "alerts": tuple(sorted(held, key=lambda alert: (GRAVITY[alert.severity], -alert.step))),
            "sources": tuple(source.path for source in frame.state.sources.values()),
            "needs": _needs(frame),
        }
    )


def project_of(info: RunInfo, id: str) -> str:
    """The project that a run's configuration names, or else the folder that the run lies in."""
    for key in PROJECT_KEYS:
        value = info.config.get(key)
        if isinstance(value, str) and value:
            return value
    for name in reversed(Path(id).parent.parts):
        if name not in BELOW_RUN and not name.startswith(("run-", "offline-run-")):
            return "" if name == "/" else name
    return ""


def _problem(frame: Frame) -> str:
    """Why there is nothing to see, where there is not."""
    if frame.state.steps_done:
        return ""
    sources = frame.state.sources.values()
    return next((source.reason for source in sources if source.reason), "")


def _needs(frame: Frame) -> str:
    """The flag that would make the missing figure known."""
    if not frame.state.steps_done or frame.status in ("finished", "crashed"):
        return ""
    if frame.info.total_steps is None:
        return "--total-steps N"
    if frame.bill.spent_usd is None:
        return "--gpus N, --usd-per-gpu-hour USD" if frame.info.platform == "self-hosted" else "--price …"
    return ""


def _trend(frame: Frame) -> tuple[float, ...]:
    history = frame.state.history
    values = [value for _, value in history.series("response_length_mean") if math.isfinite(value)]
    if len(values) <= TREND:
        return tuple(values)
    edges = [index * len(values) // TREND for index in range(TREND + 1)]
    return tuple(math.fsum(values[a:b]) / (b - a) for a, b in pairwise(edges))
