"""The last known value of each quantity that a glance wants. Pure."""

from ..models.health import Clip, Health, Length, Mfu
from .history import History
from .state import RunState

LOOK_BACK = 5
"""A quantity that was not told for this many steps counts as unknown, not as unchanged."""


def health_of(state: RunState) -> Health:
    """Health at the newest step."""
    history = state.history
    return Health(
        response_length=_length(history),
        clip_ratio=Clip(
            last=latest(history, "clip_ratio"), reliable=bool(state.clip_reliable), why=state.clip_why
        ),
        mfu=Mfu(logged=latest(history, "mfu_logged"), whole_step=latest(history, "mfu_whole_step")),
        tokens_per_s=latest(history, "tokens_per_s"),
        reward=latest(history, "reward_mean"),
        kl=latest(history, "kl"),
        entropy=latest(history, "entropy"),
        grad_norm=latest(history, "grad_norm"),
    )


def latest(history: History, name: str) -> float | None:
    """The newest known value among the last few steps."""
    for index in reversed(history.progress[-LOOK_BACK:]):
        if (value := history.get(name, index)) is not None:
            return value
    return None


def _length(history: History) -> Length:
    first = next((value for _, value in history.series("response_length_mean")), None)
    last = latest(history, "response_length_mean")
    growth = last / first if first and last is not None else None
    return Length(first=first, last=last, growth=growth)
