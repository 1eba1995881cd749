"""Fleets made by hand. Every figure is invented."""

import asyncio
import math
from collections.abc import Callable, Sequence

from rltop.models.alert import Alert, Severity
from rltop.models.fleet import FleetRow
from rltop.models.value import Quantiles
from rltop.monitor.fleet.frame import FleetFrame, Scan
from rltop.monitor.fleet.totals import totals_of
from rltop.monitor.frame import Frame
from rltop.tui.runner import ManyRuns, Runner

from . import frames
from .runners import Frames

NOW = frames.NOW
SEARCHED = Scan(files=2310, folders=412, complete=True)


def held(*rules: tuple[str, Severity]) -> tuple[Alert, ...]:
    return tuple(
        Alert(rule=rule, severity=severity, step=20, value=1, threshold=0, message=rule, advice="")
        for rule, severity in rules
    )


def growing(start: float, end: float) -> tuple[float, ...]:
    return tuple(start + (end - start) * (n / 23) ** 2 + math.sin(n) * end / 40 for n in range(24))


ROWS = (
    FleetRow(
        id="runs/math/math-4b-grpo",
        name="math-4b-grpo",
        place="math/math-4b-grpo",
        framework="verl",
        model="Qwen/Qwen3-4B-Instruct",
        project="math",
        state="running",
        step=35,
        total_steps=94,
        elapsed_s=4140,
        modified_at=NOW - 20,
        basis="gpu-hours",
        spent_usd=46.12,
        final_usd=Quantiles(p10=107, p50=233, p90=313),
        remaining_s=Quantiles(p10=10_740, p50=13_860, p90=16_980),
        length=1376,
        length_growth=2.5,
        lengths=growing(549, 1376),
        clip=0.44,
        mfu=0.019,
        alerts=held(("clip_ratio", "critical"), ("length_growth", "critical"), ("mfu_drop", "warning")),
    ),
    FleetRow(
        id="runs/gsm8k-tinker",
        name="gsm8k-tinker",
        place="gsm8k-tinker",
        framework="tinker",
        model="Qwen/Qwen3-4B-Instruct",
        project="gsm8k",
        state="running",
        step=41,
        total_steps=59,
        elapsed_s=1372,
        modified_at=NOW - 31,
        basis="metered",
        spent_usd=8.76,
        final_usd=Quantiles(p10=12.72, p50=12.93, p90=13.21),
        remaining_s=Quantiles(p10=590, p50=610, p90=640),
        length=321,
        length_growth=1.01,
        lengths=growing(318, 321),
        clip=0.0,
    ),
    FleetRow(
        id="logs/swe-rl-32b.log",
        name="swe-rl-32b",
        place="logs/swe-rl-32b.log",
        framework="slime",
        project="swe",
        state="stalled",
        step=112,
        elapsed_s=52_000,
        modified_at=NOW - 840,
        basis="gpu-hours",
        spent_usd=71.4,
        length=5824,
        length_growth=1.6,
        lengths=growing(3600, 5824),
        clip=0.03,
        mfu=0.28,
        alerts=held(("stall", "warning")),
        needs="--total-steps N",
    ),
    FleetRow(
        id="runs/math/math-4b-tinker",
        name="math-4b-tinker",
        place="math/math-4b-tinker",
        framework="tinker",
        project="math",
        state="finished",
        step=94,
        total_steps=94,
        elapsed_s=9000,
        modified_at=NOW - 90_000,
        basis="logged",
        spent_usd=24.18,
        final_usd=Quantiles(p10=24.18, p50=24.18, p90=24.18),
        length=702,
        length_growth=1.28,
        lengths=growing(549, 702),
        clip=0.01,
    ),
    FleetRow(
        id="logs/crashed.log",
        name="ppo-7b",
        place="logs/crashed.log",
        framework="verl",
        project="math",
        state="crashed",
        step=12,
        total_steps=300,
        modified_at=NOW - 200_000,
        spent_usd=19.3,
        basis="gpu-hours",
        final_usd=Quantiles(p10=19.3, p50=19.3, p90=19.3),
        length=388,
        lengths=growing(400, 388),
        alerts=held(("oom", "critical")),
    ),
    FleetRow(
        id="old/custom-loop",
        name="custom-loop",
        place="old/custom-loop",
        project="old",
        state="stalled",
        step=450,
        modified_at=NOW - 900_000,
        length=204,
        lengths=growing(180, 204),
        needs="--gpus N, --usd-per-gpu-hour USD",
    ),
    FleetRow(
        id="theirs/metrics.jsonl",
        name="theirs",
        place="theirs/metrics.jsonl",
        state="unreadable",
        modified_at=NOW - 950_000,
        problem="theirs/metrics.jsonl: Permission denied",
    ),
)


def fleet(
    rows: Sequence[FleetRow] = ROWS, budget: float | None = 300.0, scan: Scan | None = SEARCHED
) -> FleetFrame:
    return FleetFrame(
        now=NOW, rows=tuple(rows), totals=totals_of(rows, budget), scan=scan, roots=("." if scan else "",)
    )


def many(count: int) -> tuple[FleetRow, ...]:
    """As many runs as that, each with a name of its own."""
    return tuple(
        ROWS[n % len(ROWS)].model_copy(
            update={"id": f"run-{n}", "name": f"run-{n:03}", "modified_at": NOW - n, "spent_usd": 10.0 + n}
        )
        for n in range(count)
    )


class Fleets:
    """Publishes its frames at once, then waits; opens the runs that it has frames of."""

    def __init__(self, *published: FleetFrame, runs: dict[str, Frame] | None = None) -> None:
        self._published = published
        self._runs = runs or {}
        self.opened: list[Frames] = []
        self.asked: list[str] = []

    def open(self, row: FleetRow) -> Runner:
        self.asked.append(row.id)
        self.opened.append(Frames(self._runs.get(row.id, frames.verl())))
        return self.opened[-1]

    async def run(self, publish: Callable[[FleetFrame], None]) -> None:
        for frame in self._published:
            publish(frame)
        await asyncio.Event().wait()


class Opening:
    """The runner of a target that turns out to be many runs."""

    control = None

    def __init__(self, fleet: Fleets) -> None:
        self._fleet = fleet

    async def run(self, publish: Callable[[Frame], None]) -> None:
        raise ManyRuns(self._fleet)
