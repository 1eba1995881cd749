"""What has been told of one run, by its console, its metrics file, or both: the steps, facts and attempts.

Its one rule: a step is told once for each time that it ran. Two logs of one run share a Telling, so that
the second adds what the first lacks and doubles nothing.
"""

from collections.abc import Mapping
from itertools import islice

from ....models.event import Event, Restart
from ....models.run import RunInfo
from ....models.step import Step
from . import config
from .cliptrust import clip_of
from .evals import evals_of
from .proofs import proved
from .shape import Shape, Shapes
from .steps import step_of
from .version import version_of
from .walltime import WallTime

REMEMBERED = 8192
"""Most steps kept to tell a line that was logged twice from a step that ran twice."""
PROOF = ("timing_s/step", "timing/gen", "train/loss", "actor/pg_loss")
"""A line with one of these tells of a step that ran, not of something beside it."""


class Telling:
    """The state that turns metrics into events."""

    def __init__(self) -> None:
        self.info = RunInfo()
        self.attempt = 0
        self.v1 = False
        self.last: int | None = None
        """The newest training step of this attempt."""
        self.apart_s = 0.0
        """What was added to its logged time for validation and saving, seconds."""
        self._leader: object | None = None
        self._steps: dict[int, tuple[int, float | None]] = {}
        """Of this attempt: (fingerprint of the line, its step time) by step."""
        self._evals: set[tuple[int, str]] = set()
        self._shapes = Shapes()
        self._wall = WallTime()
        self._gpus_printed = False

    def learn(self, info: RunInfo) -> list[Event]:
        """Take note of facts; an event where something is new."""
        if not info.model_fields_set:
            return []
        merged = self.info.merged(info)
        if merged == self.info:
            return []
        self.info = merged
        return [info]

    def configured(self, flat: Mapping[str, config.ConfigValue], printed: bool) -> list[Event]:
        """Take note of a configuration; `printed` by the run itself, and not only asked for."""
        info = config.info_of(flat)
        events = self._another_run(info) if self._steps else []
        if printed:
            self.v1 = self.v1 or flat.get("trainer.use_v1") is True
            self._gpus_printed = self._gpus_printed or info.gpus is not None
        return events + self.learn(info)

    def _another_run(self, info: RunInfo) -> list[Event]:
        """Where another run's configuration follows in the same log, what ran before is another attempt."""
        before = self.info
        if not any(
            new is not None and old is not None and new != old
            for new, old in (
                (info.name, before.name),
                (info.model, before.model),
                (info.algorithm, before.algorithm),
            )
        ):
            return []
        self.info = before.model_copy(update={"framework_version": None, "multi_turn": None})
        self.v1 = False
        name = before.name or before.model or "another run"
        note = f"the log holds more than one run: what was spent on {name} before is counted in"
        return [*self.resume(-1, None), *self.learn(RunInfo(notes=(note,)))]

    def resume(self, after_step: int, at: float | None) -> list[Event]:
        """Training goes on behind `after_step`; -1 for from scratch. Nothing where nothing ran before."""
        if not self._steps:
            return []
        self.attempt += 1
        self._steps.clear()
        self._evals.clear()
        self.last = None
        return [Restart(from_step=after_step + 1, attempt=self.attempt, at=at)]

    def tell(
        self,
        teller: object,
        step: int,
        values: Mapping[str, float],
        at: float | None,
        text: str = "",
        rounded: bool = False,
        numpy: bool = False,
        again: bool = False,
    ) -> list[Event]:
        """The events of the metrics of one line, whose `text` tells it from others.

        `teller` is the log that says it: the first to tell a step leads, and only it can tell that a step
        ran again. `again`: the same line as before, of which there is more now.
        """
        shape = self._shapes.of(values)
        if not (shape.trains if step else shape.trains_at_0):
            return self._evaluations(step, values, at, shape) + self._beside(step, values, shape)
        if self._leader is None:
            self._leader = teller
        events: list[Event] = []
        mark = (hash(text), _time(values))
        known = self._steps.get(step)
        if known is not None and (known == mark or teller is not self._leader):
            return self._evaluations(step, values, at, shape)
        if not again and teller is self._leader and self._ran_again(step, values, mark[1], shape):
            events += self.resume(step - 1, at)
        self._remember(step, mark)
        version = self.info.framework_version or version_of(values, rounded, numpy, self.v1)
        events += self.learn(proved(step, values, version, self.info, self._gpus_printed))
        events.append(self._step(step, values, at, rounded, shape))
        return events + self._evaluations(step, values, at, shape)

    def timed(self, step: int, seconds: float, at: float | None) -> Step:
        """A step of which no more is known than its time."""
        self._remember(step, (hash((step, seconds)), None))
        return Step(step=step, attempt=self.attempt, duration_s=seconds, ended_at=at)

    def _ran_again(self, step: int, values: Mapping[str, float], seconds: float | None, shape: Shape) -> bool:
        if self.last is None or step > self.last or not any(key in values for key in PROOF):
            return False
        known = self._steps.get(step)
        if known is None:
            # An asynchronous trainer may tell two neighbours out of order.
            return step < self.last - 1 or not shape.fully_async
        return known[1] is not None and seconds is not None and known[1] != seconds

    def _remember(self, step: int, mark: tuple[int, float | None]) -> None:
        before = self._steps.pop(step, None)
        if before is not None and mark[1] is None:
            mark = (mark[0], before[1])
        self._steps[step] = mark
        self.last = step if self.last is None else max(self.last, step)
        if len(self._steps) > REMEMBERED:
            # Half of them at once: to find the first entry of a dict anew each time takes longer and longer.
            self._steps = dict(islice(self._steps.items(), REMEMBERED // 2, None))

    def _step(
        self, step: int, values: Mapping[str, float], at: float | None, rounded: bool, shape: Shape
    ) -> Step:
        version = self.info.framework_version
        duration_s, phases = self._wall.of(values, version, shape)
        self.apart_s = self._wall.apart_s
        info = self.info
        model_len = info.config.get("actor_rollout_ref.rollout.max_model_len")
        clip = clip_of(
            values,
            version,
            info.max_tokens,
            info.max_prompt_tokens,
            model_len if isinstance(model_len, int) else None,
            shape,
        )
        return step_of(step, self.attempt, at, values, info, duration_s, phases, clip, rounded)

    def _evaluations(
        self, step: int, values: Mapping[str, float], at: float | None, shape: Shape
    ) -> list[Event]:
        fresh: list[Event] = []
        if not shape.validates:
            return fresh
        for told in evals_of(values, step, self.attempt, at):
            if (step, told.name) not in self._evals:
                self._evals.add((step, told.name))
                fresh.append(told)
        return fresh

    def _beside(self, step: int, values: Mapping[str, float], shape: Shape) -> list[Event]:
        """Validation metrics logged in a line of their own stay available with their step."""
        if step not in self._steps or not shape.validates:
            return []
        return [Step(step=step, attempt=self.attempt, raw=dict(values))]


def _time(values: Mapping[str, float]) -> float | None:
    return values.get("timing_s/step", values.get("timing/gen", values.get("train/time(s)")))
