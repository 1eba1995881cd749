"""Breaks a log in the ways that logs break, and in some that only an enemy thinks of. Its one rule: the same
random numbers give the same bytes.
"""

import re
import struct
from collections.abc import Callable, Sequence
from random import Random

from rltop.monitor.sources.swanlab import MAGIC as SWANLAB
from rltop.monitor.sources.tfevents import masked_crc
from rltop.monitor.sources.wandb_log import FILE_HEADER, MAGIC, WandbLog

from ..longrun.wandb import framed

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
WORDS = b"NaN nan Infinity -Infinity inf -inf null true 0 -0 -1 1e999 -1e999 1e308 1e-400 0x10 1_000 1e --5"
WHOLE = b"9007199254740993 9223372036854775808 -9223372036854775809 18446744073709551616"
NUMBERS = (
    *WORDS.split(),
    *WHOLE.split(),
    b"9" * 400,
    b"1" + b"0" * 5000,
    b"0." + b"3" * 3000,
    "٣".encode(),  # a digit, but no ASCII one
    b"",
)
SIGNS = b"\" ' \\ { } [ ] : , | %| (pid=1) step: \\ud800"
PIECES = (
    *SIGNS.split(),
    *(b"\0", b"\0" * 5000, b"\r\n", b"\r", b"\n", b"\n\n\n", b"\x1b[31m", b"\x1b]0;title\x07", b"\x07\x08"),
    *(b"\xff\xfe", b"\xc3(", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),  # not, or hardly, UTF-8
    *(b"[" * 20_000, b"{'a': " * 5000, b'{"a":' * 5000, b"(" * 5000, b"a" * 100_000),
    *(b" - ", b"step:1 - " * 2000, b"Traceback (most recent call last):\n"),
)


def mutated(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """A broken copy: one to six changes, most of them small."""
    if data.startswith((MAGIC, SWANLAB)) and rng.random() < 0.6:
        return _inside_frames(data, others, rng)
    if data[24:36].find(b"brain") >= 0 and rng.random() < 0.6:
        return _inside_tensorboard(data, others, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        data = rng.choice(CHANGES)(data, others, rng)
    return data


def _flip(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 32)) if data else 0):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _truncate(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _delete(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _duplicate(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 20)) + data[end:]


def _splice(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    other = rng.choice(others)
    start, end = _span(other, rng)
    at = rng.randint(0, len(data))
    return data[:at] + other[start:end] + data[at:]


def _insert(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(PIECES) + data[at:]


def _number(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    found = list(NUMBER.finditer(data))
    for match in sorted(rng.sample(found, min(len(found), rng.choice((1, 1, 3)))), key=lambda m: -m.start()):
        data = data[: match.start()] + rng.choice(NUMBERS) + data[match.end() :]
    return data


def _lines(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    lines = data.split(b"\n")
    if rng.random() < 0.5:
        rng.shuffle(lines)
    else:
        lines *= rng.choice((2, 3))
    return b"\n".join(lines)


def _windows(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\r")))


Change = Callable[[bytes, Sequence[bytes], Random], bytes]
OFTEN: tuple[Change, ...] = (_flip, _delete, _insert, _number)
CHANGES: tuple[Change, ...] = (*OFTEN, *OFTEN, _truncate, _duplicate, _splice, _lines, _windows)


def _span(data: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.choice((1, 2, 8, 64, 512, 4096)))


def _inside_frames(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Break records, and frame them with right checksums."""
    records = list(WandbLog().feed(data))
    out = bytearray(data[:FILE_HEADER])
    broken = {rng.randrange(len(records)) for _ in range(3)}
    for index, record in enumerate(records):
        if index in broken:
            record = rng.choice(CHANGES)(record, others, rng)[:200_000]
        out += framed(record, len(out))
    return bytes(out)


def _inside_tensorboard(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Break messages, and frame them with right checksums."""
    out, position = bytearray(), 0
    while position + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, position)
        message = data[position + 12 : position + 12 + length]
        position += length + 16
        if rng.random() < 0.03:
            message = rng.choice(CHANGES)(message, others, rng)
        size = struct.pack("<Q", len(message))
        out += size + struct.pack("<I", masked_crc(size)) + message + struct.pack("<I", masked_crc(message))
    return bytes(out)
