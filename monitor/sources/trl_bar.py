"""The progress bar of a training, as tqdm draws it into a log again and again.

Its one rule: a bar with a name is another one: shards that are loaded, a data set that is mapped.
"""

import re
from typing import NamedTuple

from .pyrepr import number_of

BAR = re.compile(r"(\d{1,3})%\|[^|\r\n]{0,400}\| *(\d{1,9})/(\d{1,9}) \[([\d:]+)<[^\]\r\n]{0,60}\]?")


class Picture(NamedTuple):
    """The bar as it was drawn once."""

    step: int
    total: int
    elapsed_s: float
    """Wall seconds since the bar was begun."""


def pictures_of(text: str) -> tuple[list[Picture], str]:
    """The bar's pictures in a line, and what is left of the line without them."""
    found: list[Picture] = []
    left: list[str] = []
    end = 0
    for match in BAR.finditer(text):
        before = text[end : match.start()]
        lead = before.rpartition("\r")[2]
        if lead.strip() and not lead.rstrip().endswith("}"):
            continue
        left.append(before.replace("\r", ""))
        end = match.end()
        found.append(Picture(int(match[2]), int(match[3]), seconds_of_clock(match[4])))
    left.append(text[end:])
    return found, "".join(left).replace("\r", "")


def seconds_of_clock(clock: str) -> float:
    """Seconds of a time as tqdm prints it: `04:24`, `1:02:03`."""
    total = 0.0
    for part in clock.split(":"):
        total = total * 60 + (number_of(part) or 0.0)
    return total
