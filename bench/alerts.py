"""How many alerts are false, and how late the true ones come: the tables of docs/alerts.md.

Its one rule: every run goes through the pipeline that the product uses, prices and projection included.

    python -m bench.alerts                  made-up runs, and real ones where ../shared/data is there
    python -m bench.alerts --write          the same, into docs/alerts.md
    python -m bench.alerts --runs 200       more of each kind (the default is 40)
"""

import argparse
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rltop.models.alert import Alert
from rltop.models.event import Event
from rltop.models.settings import Settings
from rltop.models.text import tokens, usd
from rltop.monitor.alerts import RULES
from rltop.monitor.alerts.options import options_listed
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.target import open_target
from tests.monitor.projection.families import MadeRun, calm_run, exploding_run, make

from .trouble import ONSET, TROUBLES, broken, events, logged_by, seed_clip, tail_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "alerts.md"
DATA = ROOT.parent / "shared" / "data"
B200_USD = 4.98
BUDGET_USD = 150.0
RISEN = 1.25
"""A length has risen when it is this many times its start."""

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


@dataclass(frozen=True)
class Watched:
    """One run after its last step."""

    steps: int
    alerts: tuple[Alert, ...]

    def first(self, rule: str, after: int = 0) -> int | None:
        """The step of the first alert of a rule."""
        return min((a.step for a in self.alerts if a.rule == rule and a.step >= after), default=None)


PAUSE_S = 600.0
LOOK_S = 30.0
"""How often a live screen would look while a run is silent for longer than PAUSE_S."""


def watch(run: Iterable[Event], settings: Settings, live: bool = False) -> Watched:
    """Play a run to its end: as a log that is read afterwards, or as one that is looked at while it runs."""
    pipeline, now = Pipeline(settings, Book.load()), 0.0
    for event in run:
        at = getattr(event, "ended_at", None) or now
        for late in range(1, int((at - now) / LOOK_S) if live and now and at - now > PAUSE_S else 0):
            pipeline.frame(now + late * LOOK_S)
        now = at
        pipeline.feed(event, now)
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


def calm_made(runs: int) -> list[list[Event]]:
    """Healthy made-up runs: the seed page's Tinker run and flat ones of all sizes and noise."""
    made = [calm_run(seed) for seed in range(runs)] + [make("stable", 2000 + seed) for seed in range(runs)]
    out: list[list[Event]] = []
    for number, run in enumerate(made):
        random = Random(f"health {number}")
        clip = [max(0.0, random.gauss(0.03, 0.01)) for _ in run.lengths] if run.family == "calm" else None
        out.append(events(logged_by(run, random, clip), run.cap))
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


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def false_alarms(runs: int) -> str:
    """Per rule, alerts per 1,000 steps of calm runs."""
    groups = {"made-up": [watch(run, hosted()) for run in calm_made(runs)]}
    groups["real"] = [watch(run, Settings()) for run in calm_real().values()]
    rows: list[list[str]] = []
    for rule in RULES:
        row = [f"`{rule.name}`"]
        for watched in groups.values():
            steps = sum(w.steps for w in watched)
            loud = Counter(
                "told" if a.severity == "info" else "raised"
                for w in watched
                for a in w.alerts
                if a.rule == rule.name
            )
            row += [f"{1000 * loud[kind] / steps:.2f}" if steps else "–" for kind in ("raised", "told")]
        rows.append(row)
    counts = {name: (len(watched), sum(w.steps for w in watched)) for name, watched in groups.items()}
    head = ["rule"]
    for name in counts:
        head += [f"{name}: false alarms", f"{name}: told (info)"]
    words = ", ".join(f"{number} {name} runs of {steps:,} steps" for name, (number, steps) in counts.items())
    return f"Per 1,000 steps of calm runs: {words}.\n\n{table(head, rows)}"


def delays(runs: int) -> str:
    """Per fault, how many steps after its onset the rule speaks."""
    rows: list[list[str]] = []
    for trouble in TROUBLES:
        late: list[int] = []
        for seed in range(runs):
            random, run = Random(f"{trouble.name} {seed}"), calm_run(3000 + seed)
            clip = [max(0.0, random.gauss(0.03, 0.01)) for _ in run.lengths]
            logged = broken(logged_by(run, random, clip), trouble, random)
            # A pause is dated to the last step before it.
            seen = watch(events(logged, run.cap), hosted(), live=True).first(trouble.rule, ONSET - 1)
            late += [max(0, seen - ONSET)] if seen is not None else []
        rows.append([trouble.name, f"`{trouble.rule}`", *spread(late, runs)])
    for family in ("exponential", "S-curve", "jump up", "late boom"):
        rows.append([f"family “{family}”: from 1.25 × the start", "`length_growth`", *_grown(family, runs)])
    return table(["what goes wrong", "rule", "noticed", "steps after onset, median", "P90"], rows)


def _grown(family: str, runs: int) -> list[str]:
    late: list[int] = []
    grown = 0
    for seed in range(runs):
        run = make(family, 4000 + seed)
        onset = _risen(run)
        if onset is None:
            continue
        grown += 1
        random = Random(f"{family} {seed}")
        seen = watch(events(logged_by(run, random), run.cap), hosted()).first("length_growth")
        late += [seen - onset] if seen is not None else []
    return spread(late, grown)


def _risen(run: MadeRun) -> int | None:
    """The first step from which on five in a row are well above the start."""
    start = statistics.median(run.lengths[:10])
    for step in range(len(run.lengths) - 5):
        if min(run.lengths[step : step + 5]) > RISEN * start:
            return step + 1
    return None


def spread(late: Sequence[int], runs: int) -> list[str]:
    """Share noticed, median and P90 of the delay."""
    if not late:
        return [f"0 of {runs}", "–", "–"]
    ranked = sorted(late)
    return [
        f"{len(late)} of {runs}",
        f"{statistics.median(ranked):.0f}",
        f"{ranked[min(len(ranked) - 1, int(0.9 * len(ranked)))]}",
    ]


SEED_ROWS: tuple[tuple[str, str, str], ...] = (
    ("mfu_drop", "warning", "28"),
    ("length_growth", "warning", "28"),
    ("length_growth", "critical", ""),
    ("budget", "warning", "29"),
    ("budget", "critical", ""),
    ("clip_ratio", "warning", "32"),
    ("clip_ratio", "critical", "36"),
)


def seed_shape(runs: int) -> str:
    """The seed page's veRL run: at which step each alert comes."""
    found: dict[tuple[str, str], list[int]] = {}
    for seed in range(runs):
        run = exploding_run(5000 + seed)
        logged = logged_by(run, Random(seed), seed_clip(run))
        for key, step in stages(events(logged, run.cap), hosted(BUDGET_USD)).items():
            found.setdefault(key, []).append(step)
    rows: list[list[str]] = []
    for rule, severity, wanted in SEED_ROWS:
        steps = sorted(found.get((rule, severity), []))
        middle = f"{statistics.median(steps):.0f}" if steps else "–"
        wide = f"{steps[len(steps) // 10]}–{steps[9 * len(steps) // 10]}" if steps else "–"
        rows.append([f"`{rule}`", severity, wanted, middle, wide, f"{len(steps)} of {runs}"])
    return table(["rule", "severity", "wanted by step", "median", "P10–P90", "raised in"], rows)


def budget_kept(runs: int) -> str:
    """False alarms of the budget: a calm run with 15 % to spare, and a run that mends in time."""
    calm = Counter[str]()
    mends = Counter[str]()
    ends: list[float] = []
    for seed in range(runs):
        run = calm_run(6000 + seed)
        cost = sum(run.seconds) * 8 * B200_USD / 3600
        watched = watch(events(logged_by(run, Random(seed)), run.cap), hosted(1.15 * cost))
        calm.update(a.severity for a in watched.alerts if a.rule == "budget")
        run = tail_of(exploding_run(5000 + seed), "recover")
        ends.append(sum(run.seconds) * 8 * B200_USD / 3600)
        logged = logged_by(run, Random(seed), seed_clip(run))
        watched = watch(events(logged, run.cap), hosted(BUDGET_USD))
        mends.update(a.severity for a in watched.alerts if a.rule == "budget")
    rows = [
        ["calm run, 15 % to spare", str(calm["warning"]), str(calm["critical"]), str(runs)],
        [
            f"explodes to step 35, then mends: {usd(statistics.median(ends))} in the end",
            str(mends["warning"]),
            str(mends["critical"]),
            str(runs),
        ],
    ]
    return table(["run", "amber", "red", "runs"], rows)


def real_runs() -> str:
    """What is said of real runs, and of the one whose length explodes."""
    target = DATA / "tinker" / "distill-length-blowup"
    if not target.exists():
        return "The folder of real runs was not beside this checkout."
    run = real(target)
    step = watch(run, Settings()).first("length_growth")
    means = {e.step: e.response_length_mean for e in run if e.kind == "step"}
    mean = tokens(means.get(step)) if step is not None else "–"
    lines = [f"- distill-length-blowup: `length_growth` at step {step}, at a mean of {mean} tokens."]
    for name, calm in calm_real().items():
        loud = [a for a in watch(calm, Settings()).alerts if a.severity != "info"]
        said = "; ".join(f"{a.rule} at {a.step}: {a.message}" for a in loud) or "nothing"
        lines.append(f"- {name}: {said}")
    return "\n".join(lines)


def rules() -> str:
    """Every rule with its settings and their defaults."""
    rows: list[list[str]] = []
    for rule in RULES:
        own = [o for o in options_listed(rule, {}) if o.name not in ("enabled", "severity")]
        rows.append([f"`{rule.name}`", rule.about, ", ".join(f"`{o.name}` {o.default:g}" for o in own)])
    return table(["rule", "watches", "settings and defaults"], rows)


PARTS: dict[str, Callable[[int], str]] = {
    "rules": lambda runs: rules(),
    "false alarms": false_alarms,
    "delays": delays,
    "seed shape": seed_shape,
    "budget kept": budget_kept,
    "real runs": lambda runs: real_runs(),
}


def write(page: str, results: dict[str, str]) -> str:
    """The page with the part between each pair of marks made anew."""
    for name, text in results.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        page = mark.sub(lambda found, text=text: f"{found[1]}{text}\n{found[2]}", page)
    return page


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=40, help="made-up runs of each kind")
    parser.add_argument("--write", action="store_true", help="write them into docs/alerts.md")
    parser.add_argument("--only", choices=PARTS, help="one table")
    asked = parser.parse_args()
    names = [asked.only] if asked.only else list(PARTS)
    results = {name: PARTS[name](asked.runs) for name in names}
    for name, text in results.items():
        print(f"## {name}\n\n{text}\n")
    if asked.write:
        PAGE.write_text(write(PAGE.read_text("utf-8"), results), "utf-8")


if __name__ == "__main__":
    main()
