"""Consoles of home-made training loops that print nothing but a tqdm bar with numbers behind it:
`Training: 12%|█▏ | 12/100 [00:24<02:56, 2.00s/it, loss=0.5]`; torchtune's, `1|12|Loss: 0.5: 12%|…`.

Its one rule: one bar is the training, the first that has a number of a training; bars of evaluations, of
loading and of rollouts within a step are none. A bar begun anew after its end is the next epoch.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ...models.event import Event, Progress
from ...models.run import RunInfo
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..tells import Tells
from ..transport import open_transport
from .keymap import OPENRLHF
from .names import fields_of
from .train_console import TrainConsoleParser
from .train_pairs import Pairs, pairs_of
from .train_place import Place
from .trl_bar import seconds_of_clock
from .verl.rayline import without_colour
from .verl.recognise import STEP as VERL

BAR = re.compile(
    r"(?<!\d)\d{1,3}%\|[^|\r\n]{0,400}\| *(?P<step>\d{1,12})/(?P<total>\d{1,12})"
    r" \[(?P<clock>[\d:]{4,12})<[^,\]\r\n]{1,20}, *[^,\]\r\n]{1,24}(?P<pairs>,[^\]\r\n]{0,600})?"
)
LONGEST_LABEL = 160
EPOCH = re.compile(r"\b(?:epoch|episode)[ :=#]{0,3}[\[(]?(\d{1,6})(?:(?:/| of )(\d{1,6}))?", re.IGNORECASE)
TORCHTUNE = re.compile(r"(?:^|\s)(\d{1,6})\|\d{1,12}\|(Loss: .*)")
TUNED = "||Loss"
TUNED_EPOCHS = re.compile(r"epochs: (\d{1,4})\s*")
EPISODE = "Episode []"
"""OpenRLHF's own, before 0.9: the bars within it are those of each update."""
OTHERS = re.compile(
    r"eval|valid|\btest|infer|load|generat|rollout|gather|sampl|map|tokeniz|download", re.IGNORECASE
)
LEAST_SHOWN_S = 2.0
"""The clock of a bar shows whole seconds."""
ENOUGH = 2
ANEW = "the bar begins anew without a number of its epoch: its rounds are joined"


class Shown(NamedTuple):
    """The bar as it was drawn once."""

    label: str
    """Without its numbers: the same for every picture of one bar."""
    place: Place
    pairs: Pairs
    clock_s: float


def shown_in(text: str) -> list[Shown]:
    """The pictures of training bars in a line."""
    if "%|" not in text:
        return []
    found: list[Shown] = []
    end = 0
    for match in BAR.finditer(text):
        lead = text[max(end, match.start() - LONGEST_LABEL) : match.start()].lstrip("] ").rstrip()
        end = match.end()
        step, total, label = int(match["step"]), int(match["total"]), lead.rstrip(":")
        if step > total or (lead and label == lead) or OTHERS.search(label) is not None:
            continue
        epoch, epochs, within = None, None, False
        numbers = match["pairs"] or ""
        if (tuned := TORCHTUNE.search(label)) is not None:
            # The bar begins anew in each epoch, as does the number in front of it.
            epoch, within, label, numbers = int(tuned[1]), True, TUNED, f"{tuned[2]} {numbers}"
        elif (told := EPOCH.search(label)) is not None:
            epoch, epochs, within = int(told[1]), int(told[2]) if told[2] else None, True
            if epochs == total and epoch - step in (0, 1):
                epoch, epochs, within = None, None, False  # a bar of epochs
        place = Place(step, total, epoch, epochs, within, match.start(), match.end())
        label = re.sub(r"[\d./]+", "", label)
        found.append(Shown(label, place, pairs_of(numbers), seconds_of_clock(match["clock"])))
    return found


class TrainBarParser(TrainConsoleParser):
    """Makes events of the pictures of one bar."""

    def _begin(self) -> None:
        super()._begin()
        self._label: str | None = None
        self._round = 0
        self._before: Shown | None = None
        self._clock: tuple[int, float] | None = None
        """Where the bar stood at a time of its own clock."""
        self._spent_s = 0.0
        """Of the rounds before this one."""
        self._epochs: int | None = None
        """As torchtune's printed configuration has them."""

    def _header(self, text: str) -> Iterator[Event]:
        if (told := TUNED_EPOCHS.match(text)) is not None:
            self._epochs = int(told[1]) or None
        yield from super()._header(text)

    def _fields(self, pairs: Pairs) -> dict[str, float]:
        found = super()._fields(pairs)
        return found | OPENRLHF.values(pairs.raw) if self._framework == "openrlhf" else found

    def _part(self, text: str, line: Line) -> Iterator[Event]:
        pictures = shown_in(text)
        if not pictures:
            yield from self._words(text, line)
        for shown in pictures:
            if shown.label == EPISODE and self._last is None:
                self._label = shown.label
            if shown.place.step and shown.pairs.raw and self._label in (None, shown.label):
                yield from self._picture(shown, text, line)

    def _picture(self, shown: Shown, text: str, line: Line) -> Iterator[Event]:
        if self._label is None and not fields_of(shown.pairs.scaled)[0]:
            return
        if self._label is None or self._last is None:
            self._label = shown.label
            if shown.label == EPISODE and "policy_loss" in shown.pairs.raw:
                self._framework = "openrlhf"
        place, before = shown.place, self._before
        if before is not None and _begun_anew(before, shown):
            self._clock = None
            self._spent_s += before.clock_s
            if place.epoch is None and before.place.step == before.place.total:
                self._round += 1
                self._ended = False
                yield from self._told.news(RunInfo(notes=(ANEW,)))
        if shown.label == TUNED:
            place = place._replace(epochs=self._epochs)
        if place.epoch is None and self._round:
            place = place._replace(epoch=self._round + 1, epochs=self._round + 1, within=True)
        self._before = shown
        known = {"duration_s": took} if (took := self._took(shown)) is not None else {}
        yield from self._step(place, shown.pairs, text, line, **known)
        yield Progress(
            step=self._offset + place.step,
            total_steps=self._total,
            elapsed_s=self._spent_s + shown.clock_s,
            attempt=self._attempt,
        )

    def _took(self, shown: Shown) -> float | None:
        """Wall seconds of a step, by the bar's clock here and at an earlier step."""
        step, before = shown.place.step, self._clock
        if before is None or step < before[0]:
            self._clock = step, shown.clock_s
            return None
        spent, steps = shown.clock_s - before[1], step - before[0]
        if not steps or spent < LEAST_SHOWN_S:
            return None
        self._clock = step, shown.clock_s
        return spent / steps


def _begun_anew(before: Shown, now: Shown) -> bool:
    return (
        now.place.epoch != before.place.epoch
        or now.place.step < before.place.step
        or now.clock_s < before.clock_s
    )


def _score(probe: Probe) -> float:
    if probe.is_dir or VERL.search(probe.head) or VERL.search(probe.tail):
        return 0.0
    steps: dict[str, set[int]] = {}
    for line in re.split(r"[\r\n]", f"{probe.head}\n{probe.tail}"):
        for shown in shown_in(without_colour(line)):
            if fields_of(shown.pairs.scaled)[0]:
                steps.setdefault(shown.label, set()).add(shown.place.step)
    return 0.2 if any(len(seen) >= ENOUGH for seen in steps.values()) else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), TrainBarParser())]


TELLS = Tells(
    steps="bar with numbers",
    total="bar × epochs",
    length="by its name",
    reward="by its name",
    time="the bar's clock",
    state="end of the bar, traceback",
)
FORMAT = Format(name="progress bar of a training loop (tqdm, loss=…)", score=_score, open=_open, tells=TELLS)
