"""Runs, made up and real, played through the pipeline that the product uses, prices and projection included.

Its one rule: a run is played with the settings of a user who knows what it should cost and when it should
end, so that every rule that can be watched is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from pydantic import BaseModel, TypeAdapter

from rltop.models.alert import Alert
from rltop.models.event import Event
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.target import open_target
from tests.monitor.projection.families import MadeRun, calm_run, make

from .trouble import STARTED_AT, events, logged_by

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
B200_USD = 4.98
SPARE = 1.15
"""Of cost and time, in the budgets and deadlines of healthy runs."""
CALM = (
    "tinker/arithmetic-100",
    "tinker/custom-loop-111",
    "tinker/math-rubric-57",
    "tinker/sft-2244",
    "verl/grpo-54-ansi",
    "verl/notebook-60",
    "verl/ppo-gemma-106",
    "verl/ppo-gsm8k-435",
    "verl/sft-200",
    "trl/wordle-400",
)
"""Real runs that learnt or at least came to no harm."""
PAUSE_S = 600.0
LOOK_S = 30.0
"""How often a live screen would look while a run is silent for longer than PAUSE_S."""


class Series(BaseModel):
    """A real run of which only the mean response lengths are read here."""

    response_length: list[float | None]


SERIES = TypeAdapter(list[Series])


@dataclass(frozen=True)
class Watched:
    """One run after its last step."""

    steps: int
    alerts: tuple[Alert, ...]

    def first(self, rule: str, after: int = 0) -> int | None:
        """The step of the first alert of a rule."""
        return min((a.step for a in self.alerts if a.rule == rule and a.step >= after), default=None)


def watch(run: Iterable[Event], settings: Settings, live: bool = False) -> Watched:
    """Play a run to its end: as a log that is read afterwards, or as one that is looked at while it runs."""
    pipeline, now = Pipeline(settings, Book.load()), 0.0
    for event in run:
        at = getattr(event, "ended_at", None) or getattr(event, "at", None) or now
        for late in range(1, int((at - now) / LOOK_S) if live and now and at - now > PAUSE_S else 0):
            pipeline.frame(now + late * LOOK_S)
        now = at
        pipeline.feed(event, now)
        if live:
            pipeline.frame(now)
    pipeline.close(now)
    return Watched(pipeline.state.steps_done, pipeline.frame(now).alerts)


def stages(run: Iterable[Event], settings: Settings) -> dict[tuple[str, str], int]:
    """The step at which each rule first had each severity, by (rule, severity)."""
    pipeline, now = Pipeline(settings, Book.load()), 0.0
    first: dict[tuple[str, str], int] = {}
    for event in run:
        now = getattr(event, "ended_at", None) or now
        pipeline.feed(event, now)
        last = pipeline.state.last_row
        if last is not None and event.kind == "step":
            for alert in pipeline.frame(now).alerts:
                first.setdefault((alert.rule, alert.severity), last.step)
    return first


def hosted(budget_usd: float | None = None) -> Settings:
    """Eight B200 at the seed page's price."""
    return Settings(usd_per_gpu_hour=B200_USD, budget_usd=budget_usd)


def cost_of(run: MadeRun) -> float:
    """Dollars of all its steps."""
    return sum(run.seconds) * 8 * B200_USD / 3600


def calm_made(runs: int) -> list[tuple[list[Event], Settings]]:
    """Healthy made-up runs: the seed page's Tinker run and flat ones of all sizes and noise. Each has a
    budget and a deadline that it keeps."""
    made = [calm_run(seed) for seed in range(runs)] + [make("stable", 2000 + seed) for seed in range(runs)]
    out: list[tuple[list[Event], Settings]] = []
    for number, run in enumerate(made):
        random = Random(f"health {number}")
        clip = [max(0.0, random.gauss(0.03, 0.01)) for _ in run.lengths] if run.family == "calm" else None
        due_at = STARTED_AT + SPARE * sum(run.seconds)
        settings = hosted(SPARE * cost_of(run)).model_copy(
            update={"deadline": datetime.fromtimestamp(due_at, UTC)}
        )
        out.append((events(logged_by(run, random, clip), run.cap), settings))
    return out


def calm_real() -> dict[str, list[Event]]:
    """The healthy ones of the real runs."""
    return {name: real(DATA / name) for name in CALM if (DATA / name).exists()}


def real(target: Path) -> list[Event]:
    """All that a finished log tells, in order."""
    out: list[Event] = []
    for source in open_target(target):
        more = True
        while more:
            out += source.poll(0.0)
            more = source.more
        out += source.close()
    return out


def real_lengths() -> list[list[Step]]:
    """Real runs of which only the mean response lengths are known."""
    path = DATA / "series" / "real-runs.json"
    if not path.exists():
        return []
    return [
        [
            Step(step=step, duration_s=60.0, response_length_mean=length)
            for step, length in enumerate(one.response_length, 1)
            if length is not None
        ]
        for one in SERIES.validate_json(path.read_bytes())
    ]
