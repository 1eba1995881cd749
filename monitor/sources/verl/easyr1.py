"""EasyR1, which grew out of veRL: steps and configuration are printed as YAML, `Step 3` and then `actor:` ….

Its one rule: everything is told in veRL's own names, so that the rest reads it as it reads veRL.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple, cast

from pydantic_core import from_json

from ....models.run import ConfigValue
from . import hydra

STEP = re.compile(r"Step (\d{1,15})\s*")
CONFIG = "Config"
OPENINGS = ("Step ", CONFIG)
ENTRY = re.compile(r"[\w./@-]{1,200}:\s*$| +(?:- |['\"]?[\w./@ -]{1,200}['\"]?:(?:\s|$))")
"""At the first column only what holds more: a bar or `Total steps: 3` is no part of a block."""
MOST_LINES = MOST_ENTRIES = 5000
DEEPEST = 32
TIMINGS = {"old": "old_log_prob", "validation": "testing"}
SETTINGS = {
    "data.rollout_batch_size": "data.train_batch_size",
    "worker.actor.model.model_path": "actor_rollout_ref.model.path",
    "worker.actor.model.lora.rank": "actor_rollout_ref.model.lora_rank",
    "worker.actor.model.enable_gradient_checkpointing": (
        "actor_rollout_ref.model.enable_gradient_checkpointing"
    ),
    "worker.actor.global_batch_size": "actor_rollout_ref.actor.ppo_mini_batch_size",
    "worker.rollout.n": "actor_rollout_ref.rollout.n",
    "worker.rollout.max_model_len": "actor_rollout_ref.rollout.max_model_len",
    "trainer.val_freq": "trainer.test_freq",
    "trainer.max_steps": "trainer.total_training_steps",
    "algorithm.use_kl_loss": "actor_rollout_ref.actor.use_kl_loss",
}
"""veRL's name of a setting, by EasyR1's."""


class Block(NamedTuple):
    """One block of YAML."""

    step: int | None
    """None for the configuration."""
    flat: dict[str, ConfigValue]
    """By keys with dots."""


class Blocks:
    """Puts the blocks together, line by line."""

    def __init__(self) -> None:
        self._by = ""
        self._step: int | None = None
        self._open = False
        self._lines: list[str] = []

    @property
    def reading(self) -> bool:
        """Whether a block is open: then every line matters."""
        return self._open

    def read(self, by: str, words: str) -> tuple[Block | None, bool]:
        """(the block that a statement ended, whether it is part of one)."""
        if not self._open:
            return None, self._begins(by, words)
        if by != self._by:
            return None, False
        if ENTRY.match(words) and len(self._lines) < MOST_LINES:
            self._lines.append(words)
            return None, True
        block = self.end()
        return block, self._begins(by, words)

    def end(self) -> Block | None:
        """The open block, as far as it was printed; None where there is none, or nothing in it."""
        lines, self._lines, self._open = self._lines, [], False
        flat = hydra.read_yaml("\n".join(lines))
        return Block(self._step, flat) if flat else None

    def _begins(self, by: str, words: str) -> bool:
        step = STEP.fullmatch(words)
        if step is None and words.rstrip() != CONFIG:
            return False
        self._by, self._step, self._open = by, int(step[1]) if step else None, True
        return True


def metrics_of(block: Block) -> dict[str, float]:
    """The numbers of a step, under veRL's names."""
    return {
        _renamed(key.replace(".", "/")): float(value)
        for key, value in block.flat.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def is_step(values: Mapping[str, float]) -> bool:
    """Whether these are metrics of a training and not some other YAML."""
    return any(key.startswith(("timing_s/", "critic/", "actor/", "val/")) for key in values)


def settings_of(flat: Mapping[str, ConfigValue]) -> dict[str, ConfigValue]:
    """The configuration, and under veRL's names what is the same."""
    return {**flat, **{theirs: flat[ours] for ours, theirs in SETTINGS.items() if ours in flat}}


def row_of(line: Mapping[str, object]) -> dict[str, float] | None:
    """The numbers of a row of EasyR1's file logger, which nests them; None where it is something else."""
    if dict not in map(type, line.values()):
        return None  # a flat row with keys like veRL's, which has a time of its own perhaps
    found: dict[str, float] = {}
    left: list[tuple[str, object]] = [(key, value) for key, value in line.items() if key != "step"]
    while left:
        key, value = left.pop()
        if isinstance(value, dict):
            left += ((f"{key}/{name}", inner) for name, inner in cast("dict[str, object]", value).items())
        elif isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 2**1000:
            if value is not None:
                return None
        else:
            found[_renamed(key)] = float(value)
        if len(found) + len(left) > MOST_ENTRIES or key.count("/") > DEEPEST:
            return None
    return found if is_step(found) else None


def _renamed(key: str) -> str:
    head, _, name = key.partition("/")
    if head in ("timing_s", "timing_per_token_ms") and name in TIMINGS:
        return f"{head}/{TIMINGS[name]}"
    return "perf/mfu/actor" if key == "perf/mfu_actor" else key


class SettingsSource(hydra.HydraSource):
    """The configuration that EasyR1's file logger leaves beside its rows."""

    source = "easyr1-config"
    name = "experiment_config.json"

    def read(self) -> dict[str, ConfigValue]:
        """The settings, flattened with dots."""
        try:
            found: object = from_json(hydra.text_of(self._folder / self.name) or "{}")
        except ValueError:
            return {}
        flat: dict[str, ConfigValue] = {}
        left: list[tuple[str, object]] = [("", found)]
        while left and len(flat) < MOST_ENTRIES:
            key, value = left.pop()
            if isinstance(value, dict):
                inner = cast("dict[str, object]", value)
                left += ((f"{key}.{name}" if key else name, item) for name, item in inner.items())
            elif key and (value is None or isinstance(value, str | int | float)):
                flat[key] = value
        return settings_of(flat)
