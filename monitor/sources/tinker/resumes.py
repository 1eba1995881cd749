"""metrics.jsonl.pre_resume_NNNNNN: what the metrics file held before a resume (0.6 on) cut it at step NNNNNN.

The one rule: each file is read once; its rows from NNNNNN on were paid for and then done again.
"""

import re
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"\.pre_resume_(\d+)")


@dataclass(frozen=True, slots=True)
class Resume:
    """One resume: the lines of the file as it was, and the step from which on it was cut."""

    from_step: int
    lines: tuple[str, ...]


class Resumes:
    """The kept files of one metrics file."""

    def __init__(self, metrics: Path) -> None:
        self._metrics = metrics
        self._read: set[tuple[str, int, int]] = set()

    def fresh(self) -> list[Resume]:
        """The resumes not given before, in order of the steps they went back to.

        Checkpoints only go forward, so that is the order of time.
        """
        found: list[tuple[int, Path]] = []
        try:
            for path in self._metrics.parent.glob(f"{_escaped(self._metrics.name)}.pre_resume_*"):
                name = _NAME.fullmatch(path.name.removeprefix(self._metrics.name))
                if name is not None and len(name[1]) <= 15:
                    found.append((int(name[1]), path))
        except OSError:
            return []
        return [resume for step, path in sorted(found) if (resume := self._open(step, path)) is not None]

    def _open(self, step: int, path: Path) -> Resume | None:
        try:
            about = path.stat()
            key = (path.name, about.st_size, about.st_mtime_ns)
            if key in self._read:
                return None
            text = path.read_bytes().decode("utf-8", "replace").replace("\0", "")
        except OSError:
            return None
        self._read.add(key)
        lines = (line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
        return Resume(step, tuple(line for line in lines if line.strip()))


def _escaped(name: str) -> str:
    """A file name with nothing in it that a glob pattern would take for a sign."""
    return re.sub(r"([*?\[])", r"[\1]", name)
