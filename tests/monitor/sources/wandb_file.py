"""Transaction logs of W&B runs, as wandb writes them."""

import struct
import zlib
from collections.abc import Iterable, Mapping

from pydantic_core import to_json

from rltop.monitor.sources.wandb_log import BLOCK

HEADER = b":W&B\xe1\xbe\x00"


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def sized(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def log_of(records: Iterable[bytes]) -> bytes:
    """A transaction log, as wandb writes it."""
    out = bytearray(HEADER)
    for record in records:
        first = True
        while True:
            left = BLOCK - len(out) % BLOCK
            if left < 7:
                out += b"\0" * left
                left = BLOCK
            part, record = record[: left - 7], record[left - 7 :]
            kind = (1 if first else 4) if not record else (2 if first else 3)
            out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + part), len(part), kind) + part
            first = False
            if not record:
                break
    return bytes(out)


def item(key: str | tuple[str, ...], value: object, old: bool = False) -> bytes:
    keys = (key,) if isinstance(key, str) else key
    named = sized(1, keys[0].encode()) if old else b"".join(sized(2, part.encode()) for part in keys)
    told = value if isinstance(value, bytes) else to_json(value, inf_nan_mode="constants")
    return named + sized(16, told)


def history(values: Mapping[str | tuple[str, ...], object], number: int = 300, old: bool = False) -> bytes:
    row = b"".join(sized(1, item(key, value, old)) for key, value in values.items())
    return b"\x08" + varint(number) + sized(2, row)


def run(config: Mapping[str, object]) -> bytes:
    update = b"".join(
        sized(1, sized(1, key.encode()) + sized(16, to_json(value))) for key, value in config.items()
    )
    started = sized(17, b"\x08" + varint(1_790_000_000))
    return b"\x08\x01" + sized(17, sized(1, b"abc") + sized(4, update) + sized(8, b"my run") + started)


def ended(code: int) -> bytes:
    return b"\x08\x05" + sized(18, b"\x08" + varint(code))
