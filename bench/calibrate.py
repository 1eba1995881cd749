"""Fit monitor/projection/multipliers.json: how many deviations off a projection really was.

Its one rule: split conformal calibration. Runs that ended are projected at many moments; the quantiles
of (log truth - log forecast) / deviation, taken among moments with about as much still to come for what
was seen, are the multipliers (Vovk et al. 2003 call such classes Mondrian). A source counts with the
root of its runs, since runs of one project are alike; the made-up families together count for a share
of the real ones, so that shapes that no shared run has are thought of.

    python bench/calibrate.py SERIES.json [--write]

Printed is what can be believed of it: coverage and width on each source by the table that was fitted
without that source.
"""

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path

from backtest import MOMENTS, Run, quantile, read_series
from pydantic_core import to_json

from rltop.monitor.projection.series import Series

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "monitor" / "projection" / "multipliers.json"
SHARES = (10, 15, 20, 25, 32, 40, 50, 60, 70, 75, 85)
"""Moments at which a run is projected, % of its steps; MOMENTS among them."""
NODES = {"9": 9.0, "3": 3.0, "1": 1.0, "0.333": 1 / 3, "0.167": 1 / 6}
"""Steps to come over steps seen."""
BANDWIDTH = 0.5
"""Of the log of that ratio: how far away a moment still counts, as a Gaussian kernel."""
MADE_UP_SHARE = 0.25
SEEDS_PER_FAMILY = 12
Row = tuple[float, float]


@dataclass(frozen=True)
class Miss:
    """One run projected at one moment: what was said, and what came."""

    run: Run
    moment: int
    ahead: float
    """Steps to come over steps seen."""
    spent: float
    to_come: float
    """Both as shares of the true total; to come is what was forecast."""
    deviation: float
    mean_off: float
    """Of the mean over the steps to come: log truth less log forecast, in deviations."""
    level_off: float
    """The same of the level at the end."""
    weight: float = 1.0


def misses(run: Run) -> list[Miss]:
    """A run, projected at each of SHARES."""
    steps, total = len(run.lengths), sum(run.lengths)
    moments = {max(1, round(steps * share / 100)): share for share in reversed(SHARES)}
    series, found = Series(), list[Miss]()
    for step, length in enumerate(run.lengths[:-1], 1):
        left = steps - step
        series.observe(length, left, run.cap)
        if step not in moments:
            continue
        forecast, level = series.mean_ahead(left, run.cap), series.level_at(left, run.cap)
        ending = run.lengths[-max(3, steps // 20) :]
        truth, end = (total - series.total) / left, sum(ending) / len(ending)
        found.append(
            Miss(
                run,
                moments[step],
                left / step,
                series.total / total,
                left * forecast.middle / total,
                forecast.deviation,
                log(truth / forecast.middle) / forecast.deviation,
                log(end / level.middle) / level.deviation,
            )
        )
    return found


def weighed(real: Sequence[Miss], made_up: Sequence[Miss]) -> list[Miss]:
    """All of them, with what each counts for."""
    sizes = Counter(miss.run.source for miss in real)
    counted = [replace(miss, weight=sizes[miss.run.source] ** -0.5) for miss in real]
    each = MADE_UP_SHARE * sum(miss.weight for miss in counted) / len(made_up)
    return counted + [replace(miss, weight=each) for miss in made_up]


def fit(counted: Sequence[Miss], level: bool = False) -> dict[str, Row]:
    """The multipliers of P10 and P90 at each node."""
    offs = sorted(
        ((miss.level_off if level else miss.mean_off, miss) for miss in counted), key=lambda pair: pair[0]
    )
    table: dict[str, Row] = {}
    for name, node in NODES.items():
        weights = [miss.weight * exp(-0.5 * (log(miss.ahead / node) / BANDWIDTH) ** 2) for _, miss in offs]
        values = [off for off, _ in offs]
        low, high = (weighted_quantile(values, weights, share) for share in (0.1, 0.9))
        table[name] = round(min(low, 0.0), 3), round(max(high, 0.0), 3)
    return table


def weighted_quantile(ordered: Sequence[float], weights: Sequence[float], share: float) -> float:
    """The least of the ordered values that has at least this share of the weight up to it."""
    wanted, reached = share * sum(weights), 0.0
    for value, weight in zip(ordered, weights, strict=True):
        reached += weight
        if reached >= wanted:
            return value
    return ordered[-1]


def between(table: dict[str, Row], ahead: float) -> Row:
    """The row for a ratio, linear in its log between the nodes."""
    nodes = sorted((log(NODES[name]), row) for name, row in table.items())
    place = min(max(log(ahead), nodes[0][0]), nodes[-1][0])
    for (left, below), (right, above) in itertools.pairwise(nodes):
        if place <= right:
            part = (place - left) / (right - left)
            return below[0] + part * (above[0] - below[0]), below[1] + part * (above[1] - below[1])
    return nodes[-1][1]


def total_interval(miss: Miss, table: dict[str, Row]) -> Row:
    """P10 and P90 of the total, in units of the true total."""
    low, high = (miss.to_come * exp(k * miss.deviation) for k in between(table, miss.ahead))
    if miss.run.cap is not None:
        steps = len(miss.run.lengths)
        left = steps * miss.ahead / (1 + miss.ahead)
        high = min(high, left * miss.run.cap / sum(miss.run.lengths))
    return miss.spent + low, miss.spent + high


def held_out(real: Sequence[Miss], made_up: Sequence[Miss]) -> str:
    """Coverage and median width at each of MOMENTS, each source judged by the others."""
    judged: list[tuple[int, Row]] = []
    for source in sorted({miss.run.source for miss in real}):
        table = fit(weighed([miss for miss in real if miss.run.source != source], made_up))
        judged += [(m.moment, total_interval(m, table)) for m in real if m.run.source == source]
    return coverage(judged)


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

    made = [make(family, seed) for family in SHAPES for seed in range(SEEDS_PER_FAMILY)]
    families = [Run(run.family, run.family, run.cap, run.lengths) for run in made]
    runs = read_series(asked.series)
    real = [miss for run in runs for miss in misses(run)]
    made_up = [miss for run in families for miss in misses(run)]
    counted = weighed(real, made_up)
    tables = {"mean": fit(counted), "level": fit(counted, level=True)}
    print(f"{len(runs)} real runs of {len({run.source for run in runs})} sources, {len(families)} made up")
    for name, table in tables.items():
        print(name, *(f"{node}: {low:+.2f} {high:+.2f}" for node, (low, high) in table.items()), sep="  ")
    print("each source by the table fitted without it:", held_out(real, made_up), sep="\n")
    print("all by the table above:", sep="\n")
    print(coverage([(miss.moment, total_interval(miss, tables["mean"])) for miss in real]))
    if asked.write:
        fitted_on = f"{len(runs)} real runs, {len(families)} made-up ones, by bench/calibrate.py"
        STORED.write_bytes(to_json({"fitted_on": fitted_on, "tables": tables}, indent=2) + b"\n")


if __name__ == "__main__":
    main()
