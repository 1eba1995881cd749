"""What the scalars of one step mean, by the framework whose tags they are. Its one rule: a framework that has
a reader of its own is read by that, so that a tracker and a log of one run say the same.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from pydantic_core import from_json

from ...models.event import Event, Restart
from ...models.run import ConfigValue, Framework, RunInfo
from ...models.step import Eval, Step
from .keymap import KeyMap, keymap_of
from .names import fields_of
from .slime_flags import info_of as slime_info_of
from .tfevents import Group
from .tinker.recognise import is_marked
from .tinker.tracker import TinkerTeller
from .told import Told
from .trl_args import completions_of, info_of
from .trl_rows import TrlRows, first_window
from .trl_rows import is_training as is_training_row
from .verl.evals import is_training
from .verl.telling import Telling

TRL_SUMMARY = (
    "train_runtime",
    "train_samples_per_second",
    "train_steps_per_second",
    "total_flos",
    "train_loss",
)
TRL_ARGS, TRL_MODEL = "args/text_summary", "model_config/text_summary"
VERL_CONFIG = "actor_rollout_ref.rollout.n"
TRL_CONFIG = ("per_device_train_batch_size", "num_train_epochs", "logging_steps", "save_strategy")
TRAINER = frozenset({"train/loss", "train/learning_rate", "train/epoch"})
MAX_TAGS = 100_000
LARGEST_TOTAL = 10**9


class Teller(Protocol):
    """Makes events of the scalars of one run, step by step."""

    def whole(self, group: Group) -> Iterable[Event]:
        """The events of a step of which all scalars are there."""
        ...

    def resume(self, group: Group) -> Iterable[Event]:
        """Another file goes on, or back, with this step."""
        ...

    def text(self, tag: str, text: str) -> Iterable[Event]:
        """What was logged as text."""
        ...

    def config(self, config: Mapping[str, ConfigValue]) -> Iterable[Event]:
        """What the tracker was told of the configuration, flattened with dots."""
        ...


def teller_of(tags: Iterable[str]) -> Teller | None:
    """The teller for these tags; None while they do not say whose they are."""
    tags = frozenset(tags)
    if is_marked(tags):
        return TinkerTeller()
    keymap = keymap_of(tags)
    if keymap is None:
        # Supervised training has no key but those of transformers' own trainer.
        return TrlTeller() if tags >= TRAINER else None
    if keymap.framework == "verl":
        return VerlTeller()
    return TrlTeller() if keymap.framework == "trl" else PlainTeller(keymap)


def teller_of_config(config: Mapping[str, ConfigValue]) -> tuple[Framework, Teller] | None:
    """Whose run it is and the teller for it, by the configuration alone; None where that does not say."""
    if VERL_CONFIG in config:
        return "verl", VerlTeller()
    return ("trl", TrlTeller()) if all(key in config for key in TRL_CONFIG) else None


class VerlTeller:
    """veRL logs the metrics of its console line one by one."""

    def __init__(self) -> None:
        self._telling = Telling()
        self._told = -1

    def whole(self, group: Group) -> Iterable[Event]:
        events: list[Event] = []
        if self._told < 0:
            events = self._telling.learn(RunInfo(framework="verl", platform="self-hosted"))
        again, self._told = group.step == self._told, group.step
        return events + self._telling.tell(self, group.step, group.values, group.at, again=again)

    def resume(self, group: Group) -> Iterable[Event]:
        last = self._telling.last
        # A validation before training is logged at the step that was resumed from.
        after = group.step - 1 if is_training(group.values, group.step) else group.step
        return self._telling.resume(after, group.at) if last is not None and after < last else ()

    def text(self, tag: str, text: str) -> Iterable[Event]:
        return ()

    def config(self, config: Mapping[str, ConfigValue]) -> Iterable[Event]:
        return self._telling.configured(config, printed=True)


class TrlTeller:
    """transformers puts `train/` and `eval/` before the keys of a row."""

    def __init__(self) -> None:
        self._rows = TrlRows()
        self._attempt = 0
        self._begun = False
        self._last = 0
        self._window: int = 1
        """Steps from row to row: as configured, or as seen last."""
        self.total_off_by = 0
        """How many steps a total that follows from epochs may be off: one an epoch, where it rounds."""
        self._epochs: float | None = None
        """Epochs that are to be trained, where that and not a number of steps is configured."""
        self._routes: dict[str, tuple[int, str]] = {}
        """Row (training, evaluation or summary) and TRL's own key by tag."""

    def whole(self, group: Group) -> Iterable[Event]:
        train: dict[str, float] = {}
        evaluation: dict[str, float] = {}
        summary: dict[str, float] = {}
        rows = (train, evaluation, summary)
        for tag, value in group.values.items():
            row, name = self._routes.get(tag) or self._route(tag)
            rows[row][name] = value
        step = group.step
        if is_training_row(train) and step >= self._last:
            self._begun = True
            spaced = step - self._last
            if self._last == 0:
                window = spaced if spaced == self._window else first_window(step)
            else:
                window = spaced if spaced == self._window else 1
            self._window, self._last = max(1, spaced), step
            yield from self._total(step, train.get("epoch"))
            yield from self._rows.events(step, window, train, group.at, self._attempt, raw=group.values)
        for values in (evaluation, summary):
            if values:
                yield from self._rows.events(step, 1, values, group.at, self._attempt)

    def _total(self, step: int, epoch: float | None) -> Iterable[Event]:
        """How many steps the configured epochs are: as many times those of the epochs so far."""
        if self._epochs is None or epoch is None or not 0 < epoch <= self._epochs:
            return ()
        total = max(step, round(step * self._epochs / epoch))
        if total > LARGEST_TOTAL:
            return ()
        self.total_off_by = math.ceil(self._epochs)
        note = f"the total follows from num_train_epochs = {self._epochs:g}"
        return self._rows.learn(RunInfo(total_steps=total, notes=(note,)))

    def _route(self, tag: str) -> tuple[int, str]:
        name = tag.removeprefix("train/")
        if tag.startswith("eval/"):
            route = 1, "eval_" + tag.removeprefix("eval/")
        else:
            route = (2 if name in TRL_SUMMARY else 0), name
        if len(self._routes) < MAX_TAGS:
            self._routes[tag] = route
        return route

    def resume(self, group: Group) -> Iterable[Event]:
        if self._begun and group.step <= self._last:
            self._attempt += 1
            self._last = group.step - 1
            self._rows.begin()
            yield Restart(from_step=group.step, attempt=self._attempt, at=group.at)

    def text(self, tag: str, text: str) -> Iterable[Event]:
        if tag == TRL_ARGS and (args := _document(text)) is not None:
            scalars = {k: v for k, v in args.items() if isinstance(v, str | int | float | bool)}
            yield from self.config(scalars)
        elif tag == TRL_MODEL and (model := _document(text)) is not None:
            came_from = model.get("_name_or_path")
            yield from self._rows.learn(RunInfo(model=came_from if isinstance(came_from, str) else None))

    def config(self, config: Mapping[str, ConfigValue]) -> Iterable[Event]:
        yield from self._rows.learn(info_of(config))
        self._rows.samples_per_step = completions_of(config) or self._rows.samples_per_step
        epochs, steps = config.get("num_train_epochs"), config.get("max_steps")
        if isinstance(epochs, int | float) and epochs > 0 and not (isinstance(steps, int) and steps > 0):
            self._epochs = float(epochs)
        spacing = config.get("logging_steps")
        if isinstance(spacing, int) and spacing > 0:
            self._window = spacing


@dataclass(slots=True)
class PlainTeller:
    """Any other framework, by its key table; without one, by what names leave no doubt of."""

    keymap: KeyMap | None
    _attempt: int = 0
    _last: int = -1
    _several: bool = False
    _told: Told = field(default_factory=Told)

    def whole(self, group: Group) -> Iterable[Event]:
        prefixes = self.keymap.eval_prefixes if self.keymap else ("eval/", "val/", "validation/", "test/")
        scores = {tag: value for tag, value in group.values.items() if tag.startswith(prefixes)}
        train = {tag: value for tag, value in group.values.items() if tag not in scores}
        yield from self._told.news(self._facts(train))
        known: dict[str, Any] = {"attempt": self._attempt, "ended_at": group.at}
        if train:
            # Where steps come in several parts, a part alone does not complete one.
            self._several = self._several or group.step == self._last
            known["complete"] = not self._several and group.step > self._last
            known["raw"] = group.values
            self._last = max(self._last, group.step)
            if self.keymap is not None:
                yield Step.model_validate(self.keymap.step(group.step, train, **known))
            else:
                yield Step.model_validate({"step": group.step, **fields_of(train)[0], **known})
        if scores:
            yield Eval(step=group.step, attempt=self._attempt, name="eval", ended_at=group.at, scores=scores)

    def resume(self, group: Group) -> Iterable[Event]:
        if group.step <= self._last:
            self._attempt += 1
            self._last = group.step - 1
            yield Restart(from_step=group.step, attempt=self._attempt, at=group.at)

    def text(self, tag: str, text: str) -> Iterable[Event]:
        return ()

    def config(self, config: Mapping[str, ConfigValue]) -> Iterable[Event]:
        if self.keymap is not None and self.keymap.framework == "slime":
            yield from self._told.news(slime_info_of(dict(config)))
        else:
            yield from self._told.news(RunInfo(config=dict(config)))

    def _facts(self, train: Mapping[str, float]) -> RunInfo:
        if self.keymap is not None:
            return RunInfo(framework=self.keymap.framework, platform="self-hosted")
        taken = ", ".join(f"{name} = {key}" for name, key in fields_of(train)[1].items())
        notes = (f"taken by their names: {taken}",) if taken and not self._told.info.notes else ()
        return RunInfo(framework="unknown", notes=notes)


def _document(text: str) -> Mapping[str, object] | None:
    try:
        value: object = from_json(text)
    except ValueError:
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None
