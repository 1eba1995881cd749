"""Writes SwanLab logs as the SDK does: version 2 (swanlab 0.8 to 0.10) and version 1 (0.6, 0.7).

Its one rule: a record is one number, those of a step one after the other, readings of the machine between.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from pydantic_core import to_json

from .run import rows
from .wandb import field, framed, varint

HEADER, HEADER_1 = b":SWL\xd6\xe1\x02", b":SWL\xd6\xe1\x01"
STARTED_AT, SECONDS = 1_790_000_000.0, 60.0
GPUS_EVERY = 500
FINISHED, CRASHED, ABORTED = 1, 2, 3


def write_swanlab(path: Path, steps: int) -> None:
    """A run of so many steps of 60 metrics, in version 2. The configuration is in a file beside it."""
    with path.open("wb") as file:
        file.write(HEADER)
        at = len(HEADER)
        for number, record in enumerate(_records(steps), start=1):
            data = framed(numbered(number, record), at)
            file.write(data)
            at += len(data)


def log_of(records: Iterable[bytes], header: bytes = HEADER) -> bytes:
    """A log of these records, in frames."""
    out = bytearray(header)
    for record in records:
        out += framed(record, len(out))
    return bytes(out)


def numbered(number: int, record: bytes, at: float = STARTED_AT) -> bytes:
    """A record of version 2 with what stands before each; numbers below 0 are of those that are no news."""
    return b"\x08" + varint(number & (1 << 64) - 1) + field(2, stamp(at)) + record


def stamp(at: float) -> bytes:
    """A protobuf Timestamp, to the microsecond, as the SDK writes it."""
    micros = round(at * 1e6)
    seconds, nanos = micros // 1_000_000, micros % 1_000_000 * 1000
    return b"\x08" + varint(seconds) + (b"\x10" + varint(nanos) if nanos else b"")


def started(name: str, at: float = STARTED_AT) -> bytes:
    """The first record of a run."""
    return field(10, field(1, b"rl") + field(4, name.encode()) + field(10, b"abc") + field(12, stamp(at)))


def scalar(key: str, step: int, value: float, at: float = STARTED_AT) -> bytes:
    """One number; as protobuf has it, what is 0 is left out."""
    packed = struct.pack("<d", value)
    told = b"\x09" + packed if any(packed) else b""
    numbered_step = b"\x10" + varint(step) if step else b""
    return field(
        13, field(1, key.encode()) + numbered_step + b"\x18\x01" + field(4, stamp(at)) + field(5, told)
    )


def column(key: str) -> bytes:
    """What is said of a key before its first number."""
    return field(12, b"\x08\x01\x10\x01" + field(3, key.encode()) + field(5, b"train") + b"\x30\x03")


def printed(text: str, at: float = STARTED_AT) -> bytes:
    """A line of the console."""
    return field(16, field(1, text.encode()) + field(3, stamp(at)) + b"\x20\x01")


def finished(state: int = FINISHED, error: str = "", at: float = STARTED_AT) -> bytes:
    """The last record."""
    return field(
        11, b"\x08" + varint(state) + (field(2, error.encode()) if error else b"") + field(3, stamp(at))
    )


def told_1(kind: str, **data: object) -> bytes:
    """A record of version 1."""
    return to_json({"model_type": kind, "data": data})


def scalar_1(key: str, step: int, value: float | str, at: float = STARTED_AT) -> bytes:
    """One number in version 1; NaN and the infinities are words."""
    moment = datetime.fromtimestamp(at, UTC).isoformat()
    return told_1(
        "Scalar", metric={"index": step, "data": value, "create_time": moment}, key=key, step=step, epoch=step
    )


def config_file(config: Mapping[str, object]) -> bytes:
    """The `files/config.yaml` of a run: whole numbers, words and mappings of them."""
    lines: list[str] = []
    for sort, (key, value) in enumerate(config.items()):
        lines += [f"{key}:", "  desc: ''", f"  sort: {sort}", *_yaml("value", value, 2)]
    return "\n".join([*lines, ""]).encode()


def _yaml(key: str, value: object, indent: int) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{' ' * indent}{key}: {value}"
        return
    yield f"{' ' * indent}{key}:"
    for name, inner in cast("dict[str, object]", value).items():
        yield from _yaml(name, inner, indent + 2)


def _records(steps: int) -> Iterator[bytes]:
    yield started(f"long-{steps}")
    for step, row in enumerate(rows(steps), start=1):
        at = STARTED_AT + SECONDS * step
        if step == 1:
            yield from map(column, row)
        for key, value in row.items():
            yield scalar(key, step, value, at)
        if step % GPUS_EVERY == 0:
            for gpu in range(8):
                yield scalar(f"__swanlab__.gpu.{gpu}.pct", step, 50.0 + gpu, at)
                yield scalar(f"__swanlab__.gpu.{gpu}.mem.value", step, 40_000.0, at)
    yield finished(at=STARTED_AT + SECONDS * (steps + 1))
