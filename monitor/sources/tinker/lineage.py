"""Which lines of a metrics file have been given, so that a rewritten file gives none of them again.

The cookbook rewrites metrics.jsonl when it resumes (0.6 on), and people copy run folders with tools that
replace files. The one rule: a line counts once, whatever file it is seen in.
"""

from array import array


class Lineage:
    """The lines that make up the run's history, as 64-bit marks beside their steps: 16 bytes a line."""

    def __init__(self) -> None:
        self._marks = array("q")
        self._steps = array("q")
        self._due: dict[int, int] | None = None
        """While a file is read again: how often each mark is still to come."""

    def add(self, text: str, step: int | None) -> None:
        """A line was given. Lines without a step are never dropped by a resume."""
        self._marks.append(hash(text))
        self._steps.append(-1 if step is None else step)

    def read_again(self) -> None:
        """From now on, the lines given so far may come once more."""
        due: dict[int, int] = {}
        for mark in self._marks:
            due[mark] = due.get(mark, 0) + 1
        self._due = due

    def seen(self, text: str) -> bool:
        """Whether this line was given before and is now only read again."""
        if not self._due:
            return False
        mark = hash(text)
        left = self._due.get(mark, 0)
        if not left:
            return False
        if left == 1:
            del self._due[mark]
        else:
            self._due[mark] = left - 1
        return True

    def lacks(self, step: int) -> bool:
        """Whether lines of `step` or later ones, given before, have not come again: they were dropped."""
        due = self._due
        if not due:
            return False
        pairs = zip(self._marks, self._steps, strict=True)
        return any(at >= step and mark in due for mark, at in pairs)

    def cut(self, step: int) -> None:
        """Lines of `step` and later ones are no longer part of the file."""
        kept = [index for index, at in enumerate(self._steps) if at < step]
        self._marks = array("q", (self._marks[index] for index in kept))
        self._steps = array("q", (self._steps[index] for index in kept))
        self._due = None
