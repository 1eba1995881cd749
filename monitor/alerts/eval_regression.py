"""An evaluation score that falls below its best: the run trains on, and the model gets worse.

A fall counts when it is at least `fall` and more than `errors` standard errors of the difference of
two proportions, sqrt(2 p (1 - p) / n). Where the number of problems n is not told, it is taken to be 100.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...models.step import Eval
from ...models.text import number
from ..moment import Moment
from .rule import FINE, Debounce, Reading, Rule, Unwatched

_HIGHER_IS_BETTER = re.compile(
    r"acc|correct|score|reward|pass|success|solve|win|mean@|best@|maj@", re.IGNORECASE
)
_UNTOLD_PROBLEMS = 100
_OTHERWISE = re.compile(r"loss|nll|kl|len|token|time|std|entropy|turns|frac_", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    """`fall` in units of the score."""

    fall: float = 0.03
    errors: float = 3.0


@dataclass(frozen=True, slots=True)
class Memory:
    """The best of each score so far, with its step."""

    seen: int = 0
    best: Mapping[str, tuple[float, int]] = field(default_factory=dict[str, tuple[float, int]])


def look(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """The evaluations that have come in since the last look, if any; after a step, those up to that step."""
    evals = moment.state.history.evals
    new = _due(evals, memory.seen, moment)
    if not new:
        return memory, Unwatched("no evaluation in this log") if not evals else None
    best = dict(memory.best)
    worst: Reading | None = None
    watched = False
    for evaluation in new:
        for name, score in evaluation.scores.items():
            if not _is_score(name) or not math.isfinite(score):
                continue
            watched = True
            label = name if evaluation.name in name else f"{evaluation.name} {name}"
            top, step = best.get(label, (score, evaluation.step))
            reading = _read(label, score, top, step, evaluation, limits)
            if reading is not None and (worst is None or reading.level == "warning"):
                worst = reading
            best[label] = (top, step) if top > score else (score, evaluation.step)
    memory = Memory(memory.seen + len(new), best)
    if not watched:
        return memory, Unwatched("no evaluation score of which more is better")
    return memory, worst or FINE


def _due(evals: Sequence[Eval], seen: int, moment: Moment) -> Sequence[Eval]:
    """Those not seen before. When steps are gone through anew, the evaluations of later ones wait."""
    end, row = len(evals), moment.row
    if row is not None:
        now = (row.attempt, row.step)
        end = next((n for n in range(seen, end) if (evals[n].attempt, evals[n].step) > now), end)
    return evals[seen:end]


def _is_score(name: str) -> bool:
    return _HIGHER_IS_BETTER.search(name) is not None and _OTHERWISE.search(name) is None


def _read(
    label: str, score: float, best: float, step: int, evaluation: Eval, limits: Limits
) -> Reading | None:
    """None where the score has not fallen."""
    scale = max(1.0, abs(best))
    middle = (score + best) / 2
    # Of a score that is no proportion only the widest possible scatter is sure.
    variance = middle * (1 - middle) if 0 <= score <= 1 and 0 <= best <= 1 else 0.25
    problems = evaluation.episodes if evaluation.episodes and evaluation.episodes >= 1 else _UNTOLD_PROBLEMS
    error = scale * math.sqrt(2 * variance / problems)
    least = max(limits.fall * scale, limits.errors * error)
    fall = best - score
    if fall <= least:
        return Reading(value=score, threshold=best - least) if fall > least / 2 else None
    return Reading(
        level="warning",
        value=score,
        threshold=best - least,
        since=evaluation.step,
        message=f"{label} {number(score)}, from {number(best)} at step {step}",
        advice=f"the checkpoint of step {step} is the better one",
    )


RULE = Rule(
    name="eval_regression",
    about="an evaluation score below its best",
    limits=Limits(),
    memory=Memory(),
    severities=("warning",),
    debounce=Debounce(clear=1, wary=False),
    observe=look,
    tick=look,
)
