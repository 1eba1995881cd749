"""The run has crashed, in the log's own last words. Only when the log proves it; a resume clears it."""

from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import usd
from ..moment import Moment
from .loglines import quoted
from .rule import FINE, Debounce, Reading, Rule
from .stakes import step_of


@dataclass(frozen=True, slots=True)
class Limits:
    """Nothing to set but what every rule has."""


class Memory(NamedTuple):
    """Nothing to remember."""


def tick(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading]:
    """Whether the run has ended badly."""
    ended = moment.state.ended
    if ended is None or ended.status != "crashed":
        return memory, FINE
    words = ended.message or _last_traceback(moment)
    done, total = moment.state.steps_done, moment.info.total_steps
    of = f" of {total}" if total is not None else ""
    spent = moment.spent_usd
    return memory, Reading(
        level="critical",
        certain=True,
        value=float(step_of(moment)),
        threshold=float(total or 0),
        message=f"crashed: {quoted(words)}" if words else "crashed",
        advice=f"{done}{of} steps done{f' for {usd(spent)}' if spent is not None else ''}",
    )


def _last_traceback(moment: Moment) -> str:
    for line in reversed(moment.state.logs):
        if line.topic in ("traceback", "oom"):
            return line.text
    return ""


RULE = Rule(
    name="crash",
    about="a run that has crashed",
    limits=Limits(),
    memory=Memory(),
    lasting=True,
    severities=("critical",),
    debounce=Debounce(clear=1, wary=False),
    tick=tick,
)
