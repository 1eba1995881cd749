"""A GPU that has gone: lost to the driver, or no longer listed on its host. Critical at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..moment import Moment
from .gpu_idle import read_at
from .rule import FINE, Debounce, Reading, Rule, Unwatched


@dataclass(frozen=True, slots=True)
class Limits:
    """Nothing to set but what every rule has."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The most GPUs ever seen, by host, and when the newest reading was taken, unix seconds."""

    most: Mapping[str, int] = field(default_factory=dict[str, int])
    read_at: float | None = None


def tick(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """The newest readings."""
    samples, at = moment.state.gpus, read_at(moment)
    if at is None:
        return memory, Unwatched("no GPU readings")
    if at == memory.read_at:
        return memory, None
    most = dict(memory.most)
    gone: list[str] = []
    for host, sample in samples.items():
        most[host] = max(len(sample.gpus), most.get(host, 0))
        gone += [f"GPU {gpu.index} of {host}" for gpu in sample.gpus if gpu.state == "lost"]
        # A GPU can drop off the list with no error at all.
        if len(sample.gpus) < most[host]:
            gone.append(f"{most[host] - len(sample.gpus)} of {most[host]} GPUs of {host}")
    if not gone:
        return Memory(most, at), FINE
    return Memory(most, at), Reading(
        level="critical",
        certain=True,
        value=float(len(gone)),
        message=f"lost: {', '.join(gone)}",
        advice="the job will hang or crash; drain the host and restart from the last checkpoint",
    )


RULE = Rule(
    name="gpu_lost",
    about="GPUs that have gone",
    limits=Limits(),
    memory=Memory(),
    lasting=True,
    severities=("critical",),
    debounce=Debounce(clear=3, wary=False),
    tick=tick,
)
