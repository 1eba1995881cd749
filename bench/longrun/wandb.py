"""Writes a W&B transaction log as the SDK does offline: each row once as history and once as summary, the
items of a row in no order, GPU readings and console output between.
"""

import random
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic_core import to_json

from .run import config, rows

BLOCK, HEADER, CHUNK_HEADER = 32_768, b":W&B\xe1\xbe\x00", 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
STARTED_AT, SECONDS = 1_790_000_000, 60.0
GPUS_EVERY, PRINTED_EVERY = 500, 50


def write_wandb(path: Path, steps: int) -> None:
    """A run of so many steps of 60 metrics, and W&B's own three."""
    with path.open("wb") as file:
        file.write(HEADER)
        at = len(HEADER)
        for number, record in enumerate(_records(steps), start=1):
            data = framed(b"\x08" + varint(number) + record, at)
            file.write(data)
            at += len(data)


def varint(number: int) -> bytes:
    """An unsigned number in protobuf's way."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, payload: bytes) -> bytes:
    """A length-delimited protobuf field."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def framed(record: bytes, at: int) -> bytes:
    """A record in chunks, for where it lies in the file."""
    out = bytearray()
    kind = 0
    while kind not in (FULL, LAST):
        left = BLOCK - (at + len(out)) % BLOCK
        if left < CHUNK_HEADER:
            out += b"\0" * left
            left = BLOCK
        part, record = record[: left - CHUNK_HEADER], record[left - CHUNK_HEADER :]
        first = kind == 0
        kind = (FIRST if first else MIDDLE) if record else (FULL if first else LAST)
        out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + part), len(part), kind) + part
    return bytes(out)


def _records(steps: int) -> Iterator[bytes]:
    rng = random.Random(11)
    told = b"".join(
        field(1, field(1, key.encode()) + field(16, to_json(v))) for key, v in config(steps).items()
    )
    started = field(17, b"\x08" + varint(STARTED_AT))
    yield field(17, field(1, b"abc123") + field(4, told) + field(8, f"long-{steps}".encode()) + started)
    yield field(26, field(18, b"NVIDIA H100 80GB HBM3") + varint(19 << 3) + varint(8))
    for step, row in enumerate(rows(steps), start=1):
        seconds = SECONDS * step
        values = {**row, "_step": step, "_timestamp": STARTED_AT + seconds, "_runtime": seconds}
        items = _items(values, rng)
        yield field(2, items + field(2, b"\x08" + varint(step)))
        yield field(3, items)
        if step % GPUS_EVERY == 0:
            yield _gpus(round(STARTED_AT + seconds))
        if step % PRINTED_EVERY == 0:
            yield field(13, b"\x08\x01" + field(3, f"step:{step} - critic/score/mean:{0.5}\n".encode()))
    yield field(18, b"\x08\x00")


def _items(values: Mapping[str, float], rng: random.Random) -> bytes:
    items = [field(1, field(2, key.encode()) + field(16, to_json(value))) for key, value in values.items()]
    rng.shuffle(items)
    return b"".join(items)


def _gpus(at: int) -> bytes:
    readings = {
        f"gpu.{index}.{name}": 50.0 + index for index in range(8) for name in ("gpu", "temp", "powerWatts")
    }
    items = b"".join(field(3, field(1, key.encode()) + field(16, to_json(v))) for key, v in readings.items())
    return field(7, b"\x08\x00" + field(2, b"\x08" + varint(at)) + items)
