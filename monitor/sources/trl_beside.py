"""What lies beside a TRL run's log and says what is trained: ms-swift's args.json, and the adapter's or the
model's own configuration.

Its one rule: it is looked at until it is there, once; a log without it is read as well.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from pydantic_core import from_json

from ...models.event import Event
from ...models.run import ConfigValue, RunInfo

ARGS, ADAPTER, MODEL = "args.json", "adapter_config.json", "config.json"
LARGEST_BYTES = 4 * 1024 * 1024
SECRET = re.compile(r"token$|secret|password|api_?key", re.IGNORECASE)


class RunFilesSource:
    """Tells the facts of the files in one folder, as soon as they are there."""

    more = False

    def __init__(self, folder: Path) -> None:
        self._waited_for = {name: folder / name for name in (MODEL, ADAPTER, ARGS)}

    def poll(self, now: float) -> list[Event]:
        """The facts of files that have come."""
        events: list[Event] = []
        for name, path in list(self._waited_for.items()):
            document = _read(path)
            if document is None:
                continue
            del self._waited_for[name]
            info = {ARGS: _of_swift, ADAPTER: _of_adapter, MODEL: _of_model}[name](document)
            if info != RunInfo():
                events.append(info)
        return events

    def close(self) -> list[Event]:
        """Nothing is held back."""
        return []


def _of_swift(args: Mapping[str, object]) -> RunInfo:
    """The arguments that ms-swift was started with; `model` alone does not make a file its args.json."""
    if "swift_version" not in args:
        return RunInfo()
    full = args.get("train_type", args.get("tuner_type")) == "full"
    return RunInfo(
        model=_text(args, "model"),
        gpus=_count(args, "global_world_size"),
        max_tokens=_count(args, "max_completion_length") if "rlhf_type" in args else None,
        group_size=_count(args, "num_generations") if args.get("rlhf_type") == "grpo" else None,
        lora_rank=0 if full else _count(args, "lora_rank"),
        eval_every=_count(args, "eval_steps") if args.get("eval_strategy") == "steps" else None,
        save_every=_count(args, "save_steps") if args.get("save_strategy") == "steps" else None,
        config=_scalars(args),
    )


def _of_adapter(adapter: Mapping[str, object]) -> RunInfo:
    """peft's configuration of what is trained."""
    return RunInfo(model=_text(adapter, "base_model_name_or_path"), lora_rank=_count(adapter, "r"))


def _of_model(config: Mapping[str, object]) -> RunInfo:
    """transformers' configuration of the model; newer versions leave out where it came from."""
    return RunInfo(model=_text(config, "_name_or_path"))


def _text(values: Mapping[str, object], name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) and value else None


def _count(values: Mapping[str, object], name: str) -> int | None:
    value = values.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _scalars(values: Mapping[str, object]) -> dict[str, ConfigValue]:
    """What is one value, but no key to anything."""
    return {
        name: value
        for name, value in values.items()
        if value is not None and isinstance(value, str | int | float | bool) and not SECRET.search(name)
    }


def _read(path: Path) -> Mapping[str, object] | None:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            return None
        value: object = from_json(path.read_bytes())
    except (OSError, ValueError):
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None
