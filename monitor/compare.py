"""Runs side by side: frames in, a comparison out. Pure.

Its one rule: runs are compared where both have been. What one of them has not reached or does not tell is
unknown, and no run is stretched to the length of another.
"""

import statistics
from bisect import bisect_right
from collections.abc import Sequence

from ..models.comparison import Comparison, Difference, Measure, Shared, Standing
from ..models.run import RunInfo
from ..models.value import Quantiles
from .along import Along
from .check import name_of
from .frame import Frame
from .status import recent_durations

FEWEST, MOST = 2, 6
"""Runs that can be compared at once."""
_UNTOLD = frozenset(("kind", "config", "notes", "name", "started_at", "session_id"))
"""Facts in which any two runs differ, and those that are compared apart."""
_RECENT_STEPS = 5


def compare(frames: Sequence[Frame], by: Measure = "step", names: Sequence[str] = ()) -> Comparison:
    """The runs of these frames, aligned by a measure. `names` are what to call them, else their own."""
    called = [*names, *(name_of(frame) for frame in frames[len(names) :])]
    return Comparison(
        by=by,
        runs=tuple(_standing(frame, name) for frame, name in zip(frames, called, strict=True)),
        shared=_shared(frames, by),
        differences=tuple(differences([frame.info for frame in frames])),
    )


def _standing(frame: Frame, name: str) -> Standing:
    health, bill, state = frame.health, frame.bill, frame.state
    history, done = state.history, state.steps_done
    sampled = [value for value in history.columns["sampled_tokens"][: state.closed] if value == value]
    tokens = sum(sampled) if sampled else None
    durations = recent_durations(state)[-_RECENT_STEPS:]
    at_end, final = frame.projection.response_length_at_end, frame.projection.final_usd
    whole = Quantiles(p10=final.p10, p50=final.p50, p90=final.p90) if final is not None else None
    scored = next((one for one in reversed(history.evals) if one.scores), None)
    return Standing(
        name=name,
        framework=frame.info.framework,
        model=frame.info.model,
        state=frame.status,
        steps_done=done,
        total_steps=frame.info.total_steps,
        elapsed_s=frame.elapsed_s,
        basis=bill.basis,
        spent_usd=bill.spent_usd,
        final_usd=whole,
        usd_per_step=bill.spent_usd / done if bill.spent_usd is not None and done else None,
        usd_per_mtok=bill.spent_usd / tokens * 1e6 if bill.spent_usd is not None and tokens else None,
        seconds_per_step=statistics.median(durations) if durations else None,
        tokens_per_s=health.tokens_per_s,
        sampled_tokens=tokens,
        response_length_first=health.response_length.first,
        response_length=health.response_length.last,
        response_length_at_end=None if at_end is None else at_end.p50,
        clip_ratio=health.clip_ratio.last,
        reward_first=next((value for _, value in history.series("reward_mean")), None),
        reward=health.reward,
        eval_score=None if scored is None else next(iter(scored.scores.values())),
        kl=health.kl,
        entropy=health.entropy,
        mfu=health.mfu.whole_step,
        critical=sum(a.severity == "critical" and a.cleared_step is None for a in frame.alerts),
    )


def _shared(frames: Sequence[Frame], by: Measure) -> Shared | None:
    """The runs at the furthest place that all of them have reached."""
    alongs = [Along() for _ in frames]
    places = [_places(frame, along.read(frame, by)) for frame, along in zip(frames, alongs, strict=True)]
    if not all(places):
        return None
    at = min(place[-1][0] for place in places)
    rows = [row_at(place, at) for place in places]

    def read(column: str) -> tuple[float | None, ...]:
        return tuple(
            None if row is None else frame.state.history.get(column, row)
            for frame, row in zip(frames, rows, strict=True)
        )

    def along_of(measure: Measure) -> tuple[float | None, ...]:
        found = zip(frames, alongs, rows, strict=True)
        return tuple(_cell(along.read(frame, measure), row) for frame, along, row in found)

    return Shared(
        at=at,
        steps=tuple(
            None if row is None else frame.state.history.steps[row]
            for frame, row in zip(frames, rows, strict=True)
        ),
        spent_usd=along_of("dollars"),
        elapsed_s=along_of("time"),
        sampled_tokens=along_of("tokens"),
        response_length=read("response_length_mean"),
        reward=read("reward_mean"),
    )


Places = list[tuple[float, int]]
"""(place, row) of each closed row that counts as progress, ascending."""


def _places(frame: Frame, along: Sequence[float]) -> Places:
    closed = min(len(along), frame.state.closed)
    found = [(float(along[row]), row) for row in frame.state.history.progress if row < closed]
    return sorted(place for place in found if place[0] == place[0])


def row_at(places: Places, at: float) -> int | None:
    """The newest row at or before a place; None where the run begins after it."""
    # Sums of equal parts differ in their last digits by the order of adding.
    index = bisect_right(places, (at + abs(at) * 1e-9, 2**62)) - 1
    return places[index][1] if index >= 0 else None


def _cell(column: Sequence[float], row: int | None) -> float | None:
    if row is None or row >= len(column):
        return None
    value = float(column[row])
    return value if value == value else None


def differences(infos: Sequence[RunInfo]) -> list[Difference]:
    """The facts, and the settings of at least two runs, in which the runs differ."""
    found: list[Difference] = []
    for name in RunInfo.model_fields:
        if name not in _UNTOLD:
            values = tuple(_written(getattr(info, name)) for info in infos)
            if len({value for value in values if value is not None}) > 1:
                found.append(Difference(name=name, values=values))
    for key in sorted({key for info in infos for key in info.config}):
        told = [_written(info.config[key]) for info in infos if key in info.config]
        if len(told) > 1 and len(set(told)) > 1:
            values = tuple(_written(info.config.get(key)) for info in infos)
            found.append(Difference(name=key, values=values))
    return found


def _written(value: object) -> str | None:
    if value is None:
        return None
    return f"{value:g}" if isinstance(value, float) else str(value)
