"""How far off the projection would have been: past runs replayed and projected at 10, 25, 50 and 75 %.

Its one rule: ours is what the product shows, from what it could know at that step. Scored is the final
total of a cost in proportion to response length, which is the hardest case: prompts and fixed costs
only dilute it.

    python bench/backtest.py SERIES.json [--json OUT]    a list of {name, source, max_tokens, response_length}
    python bench/backtest.py FOLDER                      run logs of any kind that rltop reads
    python bench/backtest.py --synthetic                 the made-up families of the tests
    python bench/backtest.py --page                      the two runs of the published page, made up again
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pydantic_core import from_json, to_json
from rivals import RIVALS

from rltop.models.money import StepCost
from rltop.models.projection import Plan
from rltop.models.value import Quantiles
from rltop.monitor.projection.eta import PauseFilter
from rltop.monitor.projection.projector import Projector
from rltop.monitor.reduce import reduce
from rltop.monitor.state import RunState
from rltop.monitor.target import TargetError, open_target

ROOT = Path(__file__).resolve().parents[1]
MOMENTS = (10, 25, 50, 75)
"""Percent of the run's steps done."""
SHORTEST = 12
"""Steps; of a shorter run, 10 % is nothing."""
DRAWS = 1000
RUNS_PER_FAMILY = 12


@dataclass(frozen=True)
class Run:
    """A finished run's response length (tokens), step by step."""

    name: str
    source: str
    cap: float | None
    lengths: list[float]


@dataclass(frozen=True)
class Shot:
    """One run projected at one moment. Totals are in units of the true total."""

    run: Run
    ours: Quantiles
    rivals: dict[str, float]

    def error(self, name: str) -> float:
        """How far off, %."""
        said = self.ours.p50 if name == "ours" else self.rivals[name]
        return abs(said - 1) * 100


def project(run: Run, moments: Iterable[int]) -> dict[int, Quantiles]:
    """The projected total after each of these steps."""
    steps = len(run.lengths)
    cap = None if run.cap is None else round(run.cap)
    projector = Projector(Plan(total_steps=steps, first_step=1, max_tokens=cap))
    wanted, found, spent = set(moments), dict[int, Quantiles](), 0.0
    for step, length in enumerate(run.lengths[: max(wanted)], 1):
        spent += length
        projector.observe(StepCost(step=step, usd=length, usd_at_cap=run.cap, response_length=length))
        if step in wanted:
            final = projector.project(spent_usd=spent, budget_usd=None, dollars_only=True).final_usd
            if final is not None:
                found[step] = final
    return found


def shots(run: Run) -> dict[int, Shot]:
    """The run, projected at each of MOMENTS by ours and by every rival."""
    steps, truth = len(run.lengths), sum(run.lengths)
    moments = {moment: max(1, round(steps * moment / 100)) for moment in MOMENTS}
    ours = project(run, moments.values())
    return {
        moment: Shot(
            run,
            Quantiles(p10=ours[at].p10 / truth, p50=ours[at].p50 / truth, p90=ours[at].p90 / truth),
            {name: rule(run.lengths[:at], steps) / truth for name, rule in RIVALS.items()},
        )
        for moment, at in moments.items()
        if at in ours
    }


def quantile(values: Sequence[float], share: float) -> float:
    """Linear between the order statistics."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def score(taken: Sequence[Shot]) -> dict[str, dict[str, Any]]:
    """Errors in %, coverage of the 80 % interval as a share of runs, its width as a share of the total."""
    scores: dict[str, dict[str, Any]] = {}
    for name in ("ours", *RIVALS):
        errors = [shot.error(name) for shot in taken]
        scores[name] = {"median": quantile(errors, 0.5), "p90": quantile(errors, 0.9)}
    covered = sum(shot.ours.p10 <= 1 <= shot.ours.p90 for shot in taken)
    scores["ours"]["coverage"] = covered / len(taken)
    scores["ours"]["width"] = quantile([shot.ours.p90 - shot.ours.p10 for shot in taken], 0.5)
    return scores


def lead(taken: Sequence[Shot], rival: str, share: float) -> tuple[float, float]:
    """Bootstrap 90 % interval of ours less the rival's error quantile, in points; runs drawn anew."""
    random = Random(rival)
    pairs = [(shot.error("ours"), shot.error(rival)) for shot in taken]
    differences: list[float] = []
    for _ in range(DRAWS):
        drawn = random.choices(pairs, k=len(pairs))
        ours, theirs = [pair[0] for pair in drawn], [pair[1] for pair in drawn]
        differences.append(quantile(ours, share) - quantile(theirs, share))
    return quantile(differences, 0.05), quantile(differences, 0.95)


def backtest(runs: Sequence[Run]) -> tuple[dict[str, Any], str]:
    """The scores, as they go into the JSON, and as a table to read."""
    taken = [shots(run) for run in runs]
    result: dict[str, Any] = {"n": len(runs), "at": {}}
    lines = [f"{len(runs)} runs; error of the final total in %, median / P90"]
    for moment in MOMENTS:
        here = [at[moment] for at in taken if moment in at]
        if not here:
            continue
        scores = score(here)
        result["at"][str(moment)] = scores
        ours = scores["ours"]
        lines.append(
            f"at {moment} % ({len(here)} runs)  80 % interval covers {ours['coverage']:.2f}, "
            f"median width {ours['width']:.2f} of the total"
        )
        lines.append(f"  {'ours':8}{ours['median']:6.1f} / {ours['p90']:5.1f}")
        for name in RIVALS:
            middle, far = lead(here, name, 0.5), lead(here, name, 0.9)
            scores[name] |= {"median_lead": middle, "p90_lead": far}
            lines.append(
                f"  {name:8}{scores[name]['median']:6.1f} / {scores[name]['p90']:5.1f}   ours less this: "
                f"median {middle[0]:+.1f} to {middle[1]:+.1f}, P90 {far[0]:+.1f} to {far[1]:+.1f}"
            )
    return result, "\n".join(lines)


def read_series(path: Path, column: str = "response_length") -> list[Run]:
    """The runs of a file of series. Steps without a figure are left out, and of step times the pauses."""
    rows: list[dict[str, Any]] = from_json(path.read_bytes())
    runs: list[Run] = []
    for number, row in enumerate(rows):
        told: list[float | None] = row.get(column) or []
        values = [float(value) for value in told if value and value > 0]
        cap = row.get("max_tokens")
        if column == "step_time_s":
            pauses, cap = PauseFilter(), None
            values = [seconds * pauses.work_share(seconds) for seconds in values]
        if len(values) >= SHORTEST:
            runs.append(Run(str(row.get("name", number)), str(row.get("source", "")), cap, values))
    return runs


def read_folder(folder: Path) -> list[Run]:
    """The run whose logs lie in a folder, or else those in each of its files and subfolders."""
    try:
        found = [read_run(folder)]
    except TargetError:
        found: list[Run | None] = []
        for inside in sorted(folder.iterdir()):
            if inside.is_dir():
                found += read_folder(inside)
                continue
            try:
                found.append(read_run(inside))
            except TargetError as error:
                print(error, file=sys.stderr)
    return [run for run in found if run is not None]


def read_run(target: Path) -> Run | None:
    """What the logs of a run tell of response length; None when that is too little."""
    state = RunState()
    for source in open_target(target):
        more = True
        while more:
            for event in source.poll(0.0):
                state = reduce(state, event)
            more = source.more
        for event in source.close():
            state = reduce(state, event)
    lengths = [length for _, length in state.history.series("response_length_mean") if length > 0]
    if len(lengths) < SHORTEST:
        return None
    return Run(target.name, target.parent.name, state.info.max_tokens, lengths)


def made_up() -> list[Run]:
    """A few runs of every synthetic family. Seeds from 1000 on: the calibration uses those below."""
    sys.path.append(str(ROOT))  # the families are kept with the tests
    from tests.monitor.projection.families import SHAPES, make

    made = [make(family, 1000 + seed) for family in SHAPES for seed in range(RUNS_PER_FAMILY)]
    return [Run(run.family, run.family, run.cap, run.lengths) for run in made]


def page() -> str:
    """How wide the interval of the page's calm run is, and how often its exploding run ends above P90."""
    sys.path.append(str(ROOT))
    from tests.monitor.projection.families import calm_run, exploding_run

    calm = [Run("calm", "", run.cap, run.lengths) for run in map(calm_run, range(40))]
    lines: list[str] = []
    for step in (10, 24, 47):
        found = [(project(run, [step])[step], sum(run.lengths)) for run in calm]
        widths = [(said.p90 - said.p10) / truth for said, truth in found]
        off = quantile([abs(said.p50 / truth - 1) for said, truth in found], 0.5)
        lines.append(
            f"calm, step {step} of 94: median width {quantile(widths, 0.5):.2f} of the total, "
            f"three of four under {quantile(widths, 0.75):.2f}; median error {off:.1%}"
        )
    exploding = [Run("exploding", "", run.cap, run.lengths) for run in map(exploding_run, range(20))]
    late = range(28, 94)
    short = [
        1 - said.p90 / sum(run.lengths)
        for run in exploding
        for said in project(run, late).values()
        if said.p90 < sum(run.lengths)
    ]
    lines.append(
        f"exploding, from step 28 on: P90 under the truth at {len(short)} of {len(exploding) * len(late)} "
        f"steps, by {max(short, default=0.0):.2%} at most"
    )
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write the JSON when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("target", type=Path, nargs="?", help="a file of series or a folder of logs")
    parser.add_argument("--synthetic", action="store_true", help="the made-up families")
    parser.add_argument("--page", action="store_true", help="the two runs of the published page")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the scores there")
    asked = parser.parse_args()
    if asked.page:
        print(page())
        return
    if asked.synthetic:
        runs = made_up()
    elif asked.target is None:
        parser.error("give a file of series, a folder of logs, or --synthetic")
    else:
        runs = read_folder(asked.target) if asked.target.is_dir() else read_series(asked.target)
    if not runs:
        parser.error(f"no run of {SHORTEST} steps or more with response lengths")
    result, table = backtest(runs)
    print(table)
    if asked.json is not None:
        asked.json.write_bytes(to_json(result, indent=1))


if __name__ == "__main__":
    main()
