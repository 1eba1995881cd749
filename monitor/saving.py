"""Files that a user asks for from the screen. Its one rule: nothing that is there is written over."""

import re
from pathlib import Path

from ..models.text import printable
from .check import name_of
from .frame import Frame
from .report.content import content
from .report.page import html

LONGEST = 60
TRIES = 1000


def save_picture(frame: Frame | None, view: str, svg: str) -> Path:
    """A picture of the screen, in the current folder.

    Raises:
        OSError: it cannot be written.
    """
    return _written(f"{_named(frame)}-{view}", ".svg", svg)


def save_report(frame: Frame) -> Path:
    """A report of the run as it stands, in the current folder.

    Raises:
        OSError: it cannot be written.
    """
    return _written(_named(frame), ".html", html(content(frame), "saved from the screen of rltop"))


def _named(frame: Frame | None) -> str:
    """`rltop-RUN-stepN`, of signs that every file system takes."""
    if frame is None:
        return "rltop"
    last = frame.state.last_row
    name = re.sub(r"[^\w.-]+", "-", printable(Path(name_of(frame)).name)).strip("-.")[:LONGEST]
    return "-".join(part for part in ("rltop", name, f"step{last.step}" if last else "") if part)


def _written(name: str, ending: str, text: str) -> Path:
    for number in range(1, TRIES):
        path = Path(f"{name}{f'-{number}' if number > 1 else ''}{ending}")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        return path
    raise FileExistsError(f"{name}{ending} and {TRIES} like it are there")
