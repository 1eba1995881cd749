"""Fit monitor/projection/multipliers.json: how many deviations off a projection really was.

Its one rule: split conformal calibration. Runs that ended are projected at many moments; the quantiles
of (log truth - log forecast) / deviation, taken among moments with about as much still to come for what
was seen, are the multipliers (Vovk et al. 2003 call such classes Mondrian).

What is fitted to: response lengths of real runs; the times of their steps, which count for less; and the
made-up families, so that shapes that no shared run has are thought of. A run is projected to its end and
to many steps before it, as if it had ended there. Every miss counts for both sides, since of real runs
as many fall as rise. A run counts once for each ratio, and a source with the root of its runs, since
runs of one project are alike.

    python bench/calibrate.py SERIES.json [--write]

Printed is what can be believed of it: coverage and width on each source by the table that was fitted
without that source.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path

from backtest import MOMENTS, Run, quantile, read_series
from pydantic_core import to_json

from rltop.monitor.projection.interval import Forecast, between
from rltop.monitor.projection.series import WARM_UP, Series

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "monitor" / "projection" / "multipliers.json"
NODES = {"9": 9.0, "3": 3.0, "1": 1.0, "0.333": 1 / 3, "0.111": 1 / 9, "0.037": 1 / 27}
"""Steps to come over steps seen."""
RATIOS = (9.0, 6.0, 4.0, 3.0, 2.0, 1.5, 1.0, 0.7, 0.5, 1 / 3, 0.25, 1 / 6, 1 / 9, 1 / 18, 1 / 27)
"""Those at which a run is projected."""
BANDWIDTH = 0.5
"""Of the log of that ratio: how far away a moment still counts, as a Gaussian kernel."""
SHORTEST = 18
"""Steps; what is over sooner is projected over a step or two, of which nothing can be learnt."""
TIMES_SHARE = 0.3
MADE_UP_SHARE = 0.5
SEEDS_PER_FAMILY = 6
Row = tuple[float, float]
Table = dict[str, float]


@dataclass(frozen=True)
class Miss:
    """One run projected from one step to another: what was said, and what came."""

    run: Run
    seen: int
    ahead: int
    moment: int | None
    """Percent of the whole run that was done, where it is projected to its end at one of MOMENTS."""
    spent: float
    came: float
    """Sums over the steps seen, and over those ahead."""
    mean: Forecast
    level: Forecast
    ending: float
    """The level at the end: the mean of its last steps."""
    weight: float = 1.0

    @property
    def ratio(self) -> float:
        """Steps to come over steps seen."""
        return self.ahead / self.seen

    @property
    def nearest(self) -> str:
        """The node that it is nearest to."""
        return min(NODES, key=lambda name: abs(log(self.ratio / NODES[name])))


def misses(run: Run) -> Iterator[Miss]:
    """A run, projected from steps that lie a sixth apart, and from MOMENTS to its end."""
    steps, series = len(run.lengths), Series()
    moments = {max(1, round(steps * moment / 100)): moment for moment in MOMENTS}
    sums, following = [0.0], WARM_UP
    for length in run.lengths:
        sums.append(sums[-1] + length)
    for seen, length in enumerate(run.lengths[:-1], 1):
        series.observe(length, steps - seen, run.cap)
        aheads: dict[int, int | None] = {}
        if seen >= following:
            following = seen + max(1, seen // 6)
            aheads = {max(1, round(ratio * seen)): None for ratio in RATIOS}
        if seen in moments and seen >= WARM_UP:
            aheads[steps - seen] = moments[seen]
        for ahead, moment in aheads.items():
            end = seen + ahead
            if SHORTEST <= end <= steps:
                last = max(3, end // 20)
                yield Miss(
                    run,
                    seen,
                    ahead,
                    moment,
                    sums[seen],
                    sums[end] - sums[seen],
                    series.mean_ahead(ahead, run.cap),
                    series.level_at(ahead, run.cap),
                    (sums[end] - sums[end - last]) / last,
                )


def weighed(found: Sequence[Miss]) -> list[Miss]:
    """All of them, with what each counts for: a run once at each node, a source with its root."""
    sources = {miss.run.name: miss.run.source for miss in found}
    sizes, alike = Counter(sources.values()), Counter((miss.run.name, miss.nearest) for miss in found)
    return [
        replace(miss, weight=sizes[miss.run.source] ** -0.5 / alike[miss.run.name, miss.nearest])
        for miss in found
    ]


def scaled(found: Sequence[Miss], total: float) -> list[Miss]:
    """The same, counting for so much together."""
    factor = total / sum(miss.weight for miss in found)
    return [replace(miss, weight=miss.weight * factor) for miss in found]


def mixed(real: Sequence[Miss], times: Sequence[Miss], made_up: Sequence[Miss]) -> list[Miss]:
    """What is fitted to, each kind with its share."""
    counted = weighed(real)
    whole = sum(miss.weight for miss in counted)
    counted += scaled(weighed(made_up), MADE_UP_SHARE * whole)
    return counted + (scaled(weighed(times), TIMES_SHARE * whole) if times else [])


def fit(counted: Sequence[Miss], level: bool = False) -> Table:
    """The deviations from the middle to P10 and to P90, at each node."""
    offs: list[tuple[float, Miss]] = []
    for miss in counted:
        said = miss.level if level else miss.mean
        off = log((miss.ending if level else miss.came / miss.ahead) / said.middle)
        offs += [(off / said.above, miss), (-off / said.below, miss)]
    offs.sort(key=lambda pair: pair[0])
    values = [off for off, _ in offs]
    table: Table = {}
    for name, node in NODES.items():
        weights = [miss.weight * exp(-0.5 * (log(miss.ratio / node) / BANDWIDTH) ** 2) for _, miss in offs]
        table[name] = round(weighted_quantile(values, weights, 0.9), 3)
    return table


def weighted_quantile(ordered: Sequence[float], weights: Sequence[float], share: float) -> float:
    """The least of the ordered values that has at least this share of the weight up to it."""
    wanted, reached = share * sum(weights), 0.0
    for value, weight in zip(ordered, weights, strict=True):
        reached += weight
        if reached >= wanted:
            return value
    return ordered[-1]


def total_interval(miss: Miss, table: Table) -> Row:
    """P10 and P90 of the total, in units of the true total."""
    k = between(sorted((log(NODES[name]), k) for name, k in table.items()), miss.ratio)
    low, high = miss.mean.middle * exp(-k * miss.mean.below), miss.mean.middle * exp(k * miss.mean.above)
    if miss.run.cap is not None:
        low, high = min(low, miss.run.cap), min(high, miss.run.cap)
    total = miss.spent + miss.came
    return (miss.spent + miss.ahead * low) / total, (miss.spent + miss.ahead * high) / total


def held_out(real: Sequence[Miss], times: Sequence[Miss], made_up: Sequence[Miss]) -> str:
    """Coverage and median width at each of MOMENTS, each source judged by the others."""
    judged: list[tuple[int, Row]] = []
    for source in sorted({miss.run.source for miss in real}):
        others, timed = ([miss for miss in kind if miss.run.source != source] for kind in (real, times))
        judged += at_moments(
            (miss for miss in real if miss.run.source == source), fit(mixed(others, timed, made_up))
        )
    return coverage(judged)


def at_moments(found: Iterable[Miss], table: Table) -> list[tuple[int, Row]]:
    """The intervals of the total at MOMENTS."""
    return [(miss.moment, total_interval(miss, table)) for miss in found if miss.moment is not None]


def coverage(judged: Sequence[tuple[int, Row]]) -> str:
    """One line a moment."""
    lines: list[str] = []
    for moment in MOMENTS:
        here = [interval for at, interval in judged if at == moment]
        if here:
            inside = sum(low <= 1 <= high for low, high in here) / len(here)
            width = quantile([high - low for low, high in here], 0.5)
            lines.append(f"  at {moment} %: covers {inside:.2f}, median width {width:.2f} of the total")
    return "\n".join(lines)


def main() -> None:
    """Print the tables and what they are worth; write them when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("series", type=Path, help="a file of series of real runs")
    parser.add_argument("--write", action="store_true", help="store the tables for the product to use")
    asked = parser.parse_args()
    sys.path.append(str(ROOT))  # the families are kept with the tests
    from tests.monitor.projection.families import SHAPES, make

    made = [(f"{family} {seed}", make(family, seed)) for family in SHAPES for seed in range(SEEDS_PER_FAMILY)]
    families = [Run(name, run.family, run.cap, run.lengths) for name, run in made]
    runs, timed = read_series(asked.series), read_series(asked.series, "step_time_s")
    real, times, made_up = (
        [miss for run in kind for miss in misses(run)] for kind in (runs, timed, families)
    )
    counted = mixed(real, times, made_up)
    tables = {"mean": fit(counted), "level": fit(counted, level=True)}
    print(
        f"{len(runs)} real runs of {len({run.source for run in runs})} sources, "
        f"{len(timed)} of them with step times, {len(families)} made up"
    )
    for name, table in tables.items():
        print(name, *(f"{node}: {k:.2f}" for node, k in table.items()), sep="  ")
    print("each source by the table fitted without it:", held_out(real, times, made_up), sep="\n")
    print("all by the table above:", coverage(at_moments(real, tables["mean"])), sep="\n")
    print("step times by the table above:", coverage(at_moments(times, tables["mean"])), sep="\n")
    if asked.write:
        fitted_on = f"{len(runs)} real runs, {len(families)} made-up ones, by bench/calibrate.py"
        STORED.write_bytes(to_json({"fitted_on": fitted_on, "tables": tables}, indent=2) + b"\n")


if __name__ == "__main__":
    main()
