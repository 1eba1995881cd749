"""config.json: the run's settings, written at each process start.

The one rule: read again whenever it changes; keys whose meaning depends on the recipe are read by shape.
"""

from pathlib import Path
from typing import cast

from pydantic_core import from_json

from ....models.event import Event, SourceStatus
from ....models.run import Algorithm, ConfigValue, RunInfo
from .facts import RunFacts

LARGEST_BYTES = 8 * 1024 * 1024
MOST_KEYS = 1000
LONGEST_VALUE = 300
SERVICE = "tinker.thinkingmachines.dev"

Settings = dict[str, object]


class ConfigFile:
    """The config of one run, looked at on each poll."""

    def __init__(self, path: Path, facts: RunFacts) -> None:
        self._path = path
        self._facts = facts
        self._read: tuple[int, int] | None = None

    def poll(self) -> list[Event]:
        """A RunInfo when the file is new or has changed; a SourceStatus when it cannot be read."""
        try:
            about = self._path.stat()
            stamp = about.st_size, about.st_mtime_ns
            if stamp == self._read or about.st_size > LARGEST_BYTES:
                return []
            self._read = stamp
            data = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            stamp = (-1, error.errno or 0)
            if stamp == self._read:
                return []
            self._read = stamp
            return [self._status("denied", reason=error.strerror or str(error))]
        try:
            value: object = from_json(data)
        except ValueError:
            return [self._status("reading", first_bad="line 1: not JSON")]
        if not isinstance(value, dict):
            return [self._status("reading", first_bad="line 1: not a JSON object")]
        settings = cast(Settings, value)
        info = info_of(settings)
        self._facts.max_tokens = info.max_tokens
        self._facts.save_every = info.save_every
        if info.total_steps is not None:
            self._facts.total_steps = info.total_steps
        return [info]

    def _status(self, state: str, reason: str = "", first_bad: str = "") -> SourceStatus:
        return SourceStatus.model_validate(
            {
                "source": "tinker-config",
                "path": str(self._path),
                "state": state,
                "reason": reason,
                "lines": 1 if first_bad else 0,
                "bad_lines": 1 if first_bad else 0,
                "first_bad": first_bad,
            }
        )


def info_of(settings: Settings) -> RunInfo:
    """What a config tells of its run. A hand-written loop's batch size may count anything, so it is kept
    among the settings only."""
    builder = _object(settings, "dataset_builder")
    teachers = _teachers(settings)
    by_cookbook = "dataset_builder" in settings or "dataset_configs" in settings
    algorithm = _algorithm(settings, builder)
    groups = _whole(builder.get("groups_per_batch")) or _whole(settings.get("groups_per_batch"))
    if groups is None and teachers:
        each = [_whole(teacher.get("groups_per_batch")) for teacher in teachers]
        groups = sum(number for number in each if number) or None
    if groups is None and by_cookbook and algorithm in ("rl", "distill", None):
        groups = _whole(builder.get("batch_size"))
    notes: list[str] = []
    total = None
    if not by_cookbook:
        key = next(
            (key for key in ("max_steps", "total_steps", "num_steps") if _whole(settings.get(key))), None
        )
        if key is not None:
            total = _whole(settings[key])
            notes.append(f"the number of steps is {key} of config.json; the loop may end before")
    base_url = settings.get("base_url")
    if isinstance(base_url, str) and base_url and SERVICE not in base_url:
        notes.append(f"the run used the server at {base_url[:80]}: Tinker's prices may not be what it costs")
    teacher = next((_object(item, "teacher_config").get("base_model") for item in teachers), None)
    penalty = settings.get("kl_penalty_coef")
    return RunInfo(
        framework="tinker",
        platform="tinker",
        model=_text(settings.get("model_name"))
        or _text(settings.get("model"))
        or _text(settings.get("base_model")),
        teacher_model=_text(teacher),
        algorithm=algorithm,
        total_steps=total,
        max_tokens=_count(settings.get("max_tokens")),
        max_prompt_tokens=_count(settings.get("max_prompt_tokens")),
        groups=groups,
        group_size=_whole(builder.get("group_size")) or _whole(settings.get("group_size")),
        lora_rank=_whole(settings.get("lora_rank")),
        reference_pass=penalty > 0 if isinstance(penalty, int | float) else None,
        eval_every=_count(settings.get("eval_every")),
        save_every=_count(settings.get("save_every")),
        config=flattened(settings),
        notes=tuple(notes),
    )


def flattened(settings: Settings) -> dict[str, ConfigValue]:
    """Settings with dots between the names; long text is cut, what is too much is left out."""
    flat: dict[str, ConfigValue] = {}
    left: list[tuple[str, object]] = [("", settings)]
    while left and len(flat) < MOST_KEYS:
        name, value = left.pop()
        if isinstance(value, dict):
            inner = cast(Settings, value)
            left.extend((f"{name}.{key}" if name else key, inner[key]) for key in reversed(inner))
        elif isinstance(value, list):
            items = cast("list[object]", value)
            left.extend((f"{name}.{index}", item) for index, item in reversed(list(enumerate(items))))
        elif isinstance(value, str):
            flat[name] = value[:LONGEST_VALUE]
        elif value is None or isinstance(value, bool | int | float):
            flat[name] = value
    return flat


def _algorithm(settings: Settings, builder: Settings) -> Algorithm | None:
    if "dpo_beta" in settings:
        return "dpo"
    if "dataset_configs" in settings or "teacher_config" in settings or "n_teacher_targets" in settings:
        return "distill"
    if "common_config" in builder or ("lr_schedule" in settings and "max_tokens" not in settings):
        return "sft"
    return (
        "rl" if "max_tokens" in settings and ("group_size" in builder or "group_size" in settings) else None
    )


def _teachers(settings: Settings) -> list[Settings]:
    items = settings.get("dataset_configs")
    if isinstance(items, list):
        return [cast(Settings, item) for item in cast("list[object]", items) if isinstance(item, dict)]
    return [settings] if isinstance(settings.get("teacher_config"), dict) else []


def _object(settings: Settings, key: str) -> Settings:
    value = settings.get(key)
    return cast(Settings, value) if isinstance(value, dict) else {}


def _whole(value: object) -> int | None:
    """A count, where one is given."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 2**53 and value == int(value) else None


def _count(value: object) -> int | None:
    """A number of things; 0 and null turn a feature off, which leaves its number unknown."""
    return _whole(value) or None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
