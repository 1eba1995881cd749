"""What a kind of log tells, and how: the table in docs/sources.md is made of these."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Tells:
    """How each quantity is had of a kind of log, in a few words; empty where it cannot be had."""

    steps: str = ""
    total: str = ""
    """Steps that the run will have."""
    tokens: str = ""
    length: str = ""
    clip: str = ""
    reward: str = ""
    time: str = ""
    gpus: str = ""
    config: str = ""
    state: str = ""
    """Whether it runs, has finished or crashed."""


QUANTITIES: tuple[str, ...] = tuple(field.name for field in fields(Tells))


def tells_of_tracker(called: str = "keys", **own: str) -> Tells:
    """What a tracker's runs tell: most of it by whose keys the rows have, the rest in ways of its `own`."""
    how = f"by the {called} of the framework"
    return Tells(tokens=how, length=how, clip=how, reward=how, **own)
