"""Takes off what carried a log's lines: Kubernetes, Docker, srun, `ts`, the journal put theirs before each.

Its one rule: what is put before every line is taken off, and what only some lines have is theirs. A time that
stood there is the time of the line.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple, cast

from pydantic_core import from_json

from .source import Line
from .sources.logtime import stamp_of

_DAY = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d"


class Kind(NamedTuple):
    """One way to carry lines."""

    pattern: re.Pattern[str]
    share: float
    """Of a log's first lines, so many have to have it: few where nothing else looks so."""
    zoned: bool = False
    """Its times tell their zone."""


KINDS: tuple[Kind, ...] = (
    Kind(re.compile(r"\[pod/[\w.-]+/[\w.-]+\] "), 0.5),
    Kind(
        re.compile(rf"{_DAY}\.\d{{3,9}}(?:Z|[+-]\d\d:\d\d) std(?:out|err) (?P<part>[FP]) "), 0.5, zoned=True
    ),
    Kind(re.compile(rf"{_DAY}\.\d{{3,9}}Z "), 0.5, zoned=True),
    Kind(re.compile(r"[\w.-]{1,63}-\d+ +\|(?: |$)"), 0.95),
    Kind(re.compile(r"\d{1,4}:(?: |$)"), 0.95),
    Kind(re.compile(r"\[default\d+\]:"), 0.95),
    Kind(re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?:\S+ [\w./-]+\[\d+\]: )?"), 0.95),
    Kind(re.compile(rf"\[?{_DAY}(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?\]? "), 0.95),
)
WORDS = ("log", "message", "msg")
MEASURED = ("step", "global_step", "train_step", "iteration", "epoch", "update", "loss", "reward")
TIMES = ("time", "timestamp", "@timestamp", "ts")
LOOKED_AT = 50
ENOUGH = 3
"""So many lines say how a log is carried."""
SAME_ZONE_S = 1800.0
DEEPEST = 3
"""One carrier inside another, `kubectl logs --prefix --timestamps`."""


class Wrapping:
    """How the lines of one stream are carried; learnt from its first lines."""

    def __init__(self) -> None:
        self.plain = False
        """Nothing carries them: every line may go as it is."""
        self._known = False
        self._first: list[str] = []
        self._kinds: Sequence[Kind] = ()
        self._json = False
        self._held: list[str] = []
        """Parts of a line that Kubernetes cut, whose rest is still to come."""

    def unwrapped(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines as they were written."""
        if not self._known:
            lines = iter(lines)
            first = list(islice(lines, LOOKED_AT))
            self.learn([line.text for line in first])
            lines = chain(first, lines)
        if not (self._kinds or self._json):
            yield from lines
            return
        for line in lines:
            bare = self._bare(line)
            if bare is not None:
                yield bare

    def learn(self, texts: Sequence[str]) -> None:
        """Look at the first lines; at more of them where these were too few to tell."""
        self._first += [text for text in texts if text.strip()]
        seen = self._first[:LOOKED_AT]
        self._kinds, self._json = _kinds_of(seen), _is_json(seen)
        self._known = bool(self._kinds) or self._json or len(seen) >= ENOUGH
        self.plain = self._known and not (self._kinds or self._json)

    def _bare(self, line: Line) -> Line | None:
        text, at = line.text, line.at
        if self._json and text.startswith("{"):
            text, at = _of_json(text, at)
        for kind in self._kinds:
            match = kind.pattern.match(text)
            if match is None:
                continue
            at = _time(stamp_of(match[0]), at, kind.zoned)
            text = text[match.end() :]
            if "part" in match.re.groupindex and match["part"] == "P":
                self._held.append(text)
                return None
        if self._held:
            text = "".join((*self._held, text))
            self._held.clear()
        return Line(text, at, line.number)


def bare_text(text: str, like: str = "") -> str:
    """The text without what carries its lines, as the first lines of `like`, or else its own, tell."""
    first = [line for line in (like or text)[:65_536].split("\n")[:LOOKED_AT] if line.strip()]
    wrapping = Wrapping()
    wrapping.learn(first)
    if wrapping.plain:
        return text
    lines = (Line(line) for line in text.split("\n"))
    return "\n".join(line.text for line in wrapping.unwrapped(lines))


def _kinds_of(texts: Sequence[str]) -> list[Kind]:
    """What carries these lines, outermost first."""
    chosen: list[Kind] = []
    texts = [_of_json(text, None)[0] for text in texts] if _is_json(texts) else texts
    for _ in range(DEEPEST):
        for kind in KINDS:
            found = [match for text in texts if (match := kind.pattern.match(text)) is not None]
            enough = ENOUGH if kind.share > 0.9 else 1
            if kind not in chosen and len(found) >= max(enough, kind.share * len(texts)):
                chosen.append(kind)
                texts = [kind.pattern.sub("", text, count=1) for text in texts]
                break
        else:
            break
    return chosen


def _is_json(texts: Sequence[str]) -> bool:
    """Whether the lines are JSON objects that hold a line and its time, as Docker and loguru keep them."""
    held = sum(text.startswith("{") and _of_json(text, None)[0] is not text for text in texts)
    return bool(texts) and held >= 0.9 * len(texts)


def _of_json(text: str, at: float | None) -> tuple[str, float | None]:
    """The line in a JSON object, and its time; the text itself where it holds none."""
    try:
        entry: object = from_json(text)
    except ValueError:
        return text, at
    fields = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    words = next((fields[key] for key in WORDS if isinstance(fields.get(key), str)), None)
    time = next((fields[key] for key in TIMES if isinstance(fields.get(key), str)), None)
    if not isinstance(words, str) or not isinstance(time, str):
        return text, at
    if any(isinstance(fields.get(key), int | float) for key in MEASURED):
        return text, at  # a row of metrics with a remark
    return words.rstrip("\r\n"), _time(stamp_of(time), at, zoned=True)


def _time(stamp: float | None, at: float | None, zoned: bool) -> float | None:
    """The time of a line, from the stamp before it and from when it was seen to arrive.

    Without its zone a stamp that is far from the arrival is one of another zone.
    """
    if stamp is None or (at is not None and not zoned and abs(stamp - at) > SAME_ZONE_S):
        return at
    return stamp
