"""How long a step took by the wall, and on what: veRL's own step time leaves out more in later versions.

`timing_s/step` includes validation and saving up to 0.5, neither in 0.6.0–0.7.0, saving alone from
0.7.1 on. Its one rule: where the phases of a step prove what its time includes, they beat the version.
"""

from collections.abc import Mapping
from itertools import chain, combinations

from ....models.step import PhaseName
from . import version as v
from .shape import Shape, shape_of

PHASES: dict[str, PhaseName] = {
    "gen": "generate",
    "gen_max": "generate",
    "old_log_prob": "old_logprob",
    "ref": "ref",
    "reward": "reward",
    "values": "other",
    "adv": "other",
    "update_critic": "update_critic",
    "update_actor": "update",
    "update_weights": "weight_sync",
    "testing": "eval",
    "save_checkpoint": "checkpoint",
}
NOT_PHASES = frozenset(
    {"step", "generate_sequences", "reshard", "generate_async", "start_profile", "stop_profile"}
)
"""Whole, nested in another phase, running beside the step, or outside of it."""
APART = ("testing", "save_checkpoint")
OUTSIDE: dict[str, frozenset[str]] = {
    v.BEFORE_03: frozenset(),
    v.EARLY: frozenset(),
    v.V05: frozenset(),
    v.V06: frozenset(APART),
    v.V071: frozenset({"testing"}),
    v.V1: frozenset({"testing"}),
}
SFT_TIME = ("train/time(s)", "train/time")


class WallTime:
    """Learns from step to step what the logged step time includes."""

    def __init__(self) -> None:
        self._untimed_s: float | None = None
        """What a step without validation and saving spends between its phases."""
        self.apart_s = 0.0
        """What was added to the last step's logged time for validation and saving."""

    def of(
        self, values: Mapping[str, float], version: str | None, shape: Shape | None = None
    ) -> tuple[float | None, dict[PhaseName, float]]:
        """(wall seconds, disjoint wall seconds by phase) of one step; None and {} where nothing tells.

        `shape`: that of the values, where it is known already.
        """
        self.apart_s = 0.0
        for key in SFT_TIME:
            if (seconds := values.get(key)) is not None and seconds >= 0:
                return seconds, {"update": seconds}
        timed = timings(values, shape or shape_of(values))
        step = values.get("timing_s/step", values.get("perf/time_per_step"))
        parts = {name: s for name, s in timed.items() if name not in NOT_PHASES}
        if step is None or not step >= 0:
            return (sum(parts.values()) if parts and "gen" in parts else None), _phases(parts)
        if apart := [name for name in APART if parts.get(name, 0.0) > 0]:
            outside = self._outside(step, parts, version, frozenset(apart))
            self.apart_s = sum(parts[name] for name in outside)
        elif (untimed := step - sum(parts.values())) >= 0:
            self._untimed_s = untimed if self._untimed_s is None else min(self._untimed_s, untimed)
        duration = step + self.apart_s
        duration += timed.get("start_profile", 0.0) + timed.get("stop_profile", 0.0)
        return duration, _within(duration, parts)

    def _outside(
        self, step: float, timed: Mapping[str, float], version: str | None, apart: frozenset[str]
    ) -> frozenset[str]:
        """What of validation and saving, which this step has, its logged time leaves out."""
        prior = OUTSIDE.get(version or "", frozenset({"testing"})) & apart
        core = sum(s for name, s in timed.items() if name not in APART)
        untimed = step - core
        if untimed < 0 or not core:
            return prior  # phases that overlap prove nothing

        def surplus(outside: frozenset[str]) -> float:
            inside = sum(timed[name] for name in apart - outside)
            return abs(untimed - (self._untimed_s or 0.0) - inside)

        choices = chain.from_iterable(combinations(sorted(apart), n) for n in range(len(apart) + 1))
        best = min(map(frozenset, choices), key=surplus)
        doubt = max(1.0, 0.02 * step)
        return prior if surplus(prior) <= surplus(best) + doubt else best


def timings(values: Mapping[str, float], shape: Shape) -> dict[str, float]:
    """Seconds by veRL's own phase name; per-sample and nested timings are left out."""
    timed = {name: seconds for key, name in shape.phases if (seconds := values[key]) >= 0}
    if "sync_rollout_weights" in timed:  # holds update_weights
        timed["update_weights"] = timed.pop("sync_rollout_weights")
    return timed


def _within(duration: float, parts: Mapping[str, float]) -> dict[PhaseName, float]:
    """Phases whose sum fits into the step: those that veRL does not know overlap others when it does not."""
    most = duration * 1.0001 + 0.002
    if sum(parts.values()) <= most:
        return _phases(parts)
    own = {name: seconds for name, seconds in parts.items() if name in PHASES}
    return _phases(own) if sum(own.values()) <= most else {}


def _phases(parts: Mapping[str, float]) -> dict[PhaseName, float]:
    phases: dict[PhaseName, float] = {}
    for name, seconds in parts.items():
        phase = PHASES.get(name, "other")
        if phase == "other" and "gen" not in parts and ("rollout" in name or "generat" in name):
            phase = "generate"  # trainers built on veRL rename the rollout
        phases[phase] = phases.get(phase, 0.0) + seconds
    return phases
