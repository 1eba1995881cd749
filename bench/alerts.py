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
from pathlib import Path
from random import Random

from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.models.text import percent, tokens, usd
from rltop.monitor.alerts import RULES
from rltop.monitor.alerts.options import options_listed
from tests.monitor.projection.families import MadeRun, calm_run, exploding_run, make

from .happenings import HAPPENINGS
from .trouble import ONSET, TROUBLES, broken, events, logged_by, seed_clip, tail_of
from .watched import DATA, SPARE, calm_made, calm_real, cost_of, hosted, real, real_lengths, stages, watch

PAGE = Path(__file__).resolve().parents[1] / "docs" / "alerts.md"
BUDGET_USD = 150.0
RISEN = 1.25
"""A length has risen when it is this many times its start."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def false_alarms(runs: int) -> str:
    """Per rule, alerts per 1,000 steps of calm runs."""
    groups = {"made-up": [watch(run, said, live=True) for run, said in calm_made(runs)]}
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
    loud = sum(a.severity != "info" for watched in groups.values() for w in watched for a in w.alerts)
    said = f"Per 1,000 steps of calm runs: {words}. Warnings and criticals in all of them together: {loud}."
    return f"{said}\n\n{table(head, rows)}"


FEW = ((8, 0.1), (8, 0.2), (16, 0.2), (64, 0.1))


def few_responses(runs: int) -> str:
    """False alarms of the clip ratio where it is a sample of a few responses and stays the same."""
    rows: list[list[str]] = []
    for responses, share in FEW:
        raised = steps = 0
        for seed in range(runs):
            random = Random(f"{responses} {share} {seed}")
            clips = [sum(random.random() < share for _ in range(responses)) / responses for _ in range(400)]
            told = [
                Step(step=n, duration_s=60.0, clip_ratio=clip, clip_reliable=True)
                for n, clip in enumerate(clips, 1)
            ]
            alerts = watch(told, Settings()).alerts
            raised += sum(a.rule == "clip_ratio" and a.severity != "info" for a in alerts)
            steps += len(told)
        rows.append([str(responses), percent(share), f"{steps:,}", f"{1000 * raised / steps:.2f}"])
    return table(["responses a step", "cut", "steps", "false alarms per 1,000 steps"], rows)


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
    for happening in HAPPENINGS:
        late = []
        for seed in range(runs):
            run = calm_run(3000 + seed)
            healthy = events(
                logged_by(run, Random(f"{happening.name} {seed}"), [0.03] * len(run.lengths)), run.cap
            )
            said = happening.settings(healthy, hosted())
            seen = watch(happening.change(healthy), said, live=True).first(happening.rule, ONSET - 1)
            late += [max(0, seen - ONSET)] if seen is not None else []
        rows.append([happening.name, f"`{happening.rule}`", *spread(late, runs)])
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
        watched = watch(events(logged_by(run, Random(seed)), run.cap), hosted(SPARE * cost_of(run)))
        calm.update(a.severity for a in watched.alerts if a.rule == "budget")
        run = tail_of(exploding_run(5000 + seed), "recover")
        ends.append(cost_of(run))
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
    lines += _series()
    for name, calm in calm_real().items():
        loud = [a for a in watch(calm, Settings()).alerts if a.severity != "info"]
        said = "; ".join(f"{a.rule} at {a.step}: {a.message}" for a in loud) or "nothing"
        lines.append(f"- {name}: {said}")
    return "\n".join(lines)


def _series() -> list[str]:
    """What `length_growth` makes of the real runs of which only the lengths are known."""
    steps = Counter[bool]()
    told = Counter[bool]()
    runs = Counter[bool]()
    for run in real_lengths():
        grows = _grows(run)
        runs[grows] += 1
        steps[grows] += len(run)
        told[grows] += sum(a.rule == "length_growth" for a in watch(run, Settings()).alerts)
    if not runs:
        return []
    return [
        f"- {runs[False]} real series of lengths whose median of five steps stays below {RISEN} × the start "
        f"({steps[False]:,} steps): `length_growth` {told[False]} times; {runs[True]} that rise above it "
        f"({steps[True]:,} steps): {told[True]} times."
    ]


def _grows(run: Sequence[Step]) -> bool:
    lengths = [step.response_length_mean or 0.0 for step in run]
    start = statistics.median(lengths[:10])
    windows = (statistics.median(lengths[n : n + 5]) for n in range(len(lengths) - 4))
    return max(windows) >= RISEN * start


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
    "few responses": few_responses,
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
