"""The last known value of each quantity that a glance wants. Pure."""

from ..models.health import Clip, Health, Length, Mfu
from ..models.run import RunInfo
from .history import History
from .money.flops import corrected_mfu, sequence_length
from .state import RunState

LOOK_BACK = 5
"""A quantity that was not told for this many steps counts as unknown, not as unchanged."""


def health_of(state: RunState, info: RunInfo) -> Health:
    """Health at the newest step; `info` has the user's settings on top."""
    history = state.history
    return Health(
        response_length=_length(history),
        clip_ratio=Clip(
            last=latest(history, "clip_ratio"), reliable=bool(state.clip_reliable), why=state.clip_why
        ),
        mfu=_mfu(history, info),
        tokens_per_s=latest(history, "tokens_per_s"),
        reward=latest(history, "reward_mean"),
        kl=latest(history, "kl"),
        entropy=latest(history, "entropy"),
        grad_norm=latest(history, "grad_norm"),
    )


def latest(history: History, name: str) -> float | None:
    """The newest known value among the last few steps."""
    index = _newest(history, name)
    return None if index is None else history.get(name, index)


def _newest(history: History, name: str) -> int | None:
    """The row of the newest known value among the last few steps."""
    known = (i for i in reversed(history.progress[-LOOK_BACK:]) if history.get(name, i) is not None)
    return next(known, None)


def _mfu(history: History, info: RunInfo) -> Mfu:
    index = _newest(history, "mfu_logged")
    logged = corrected = None
    if index is not None:
        row = history.row(index)
        logged = row.get("mfu_logged") or None  # 0 stands for a GPU that the framework does not know
        if info.framework == "verl":
            corrected = corrected_mfu(logged, info, sequence_length(row))
    return Mfu(logged=logged, corrected=corrected, whole_step=latest(history, "mfu_whole_step"))


def _length(history: History) -> Length:
    first = next((value for _, value in history.series("response_length_mean")), None)
    last = latest(history, "response_length_mean")
    growth = last / first if first and last is not None else None
    return Length(first=first, last=last, growth=growth)
