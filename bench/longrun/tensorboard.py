"""Writes a TensorBoard event file as torch's SummaryWriter does: an event a scalar, checksums right."""

import struct
from pathlib import Path

from rltop.monitor.sources.tfevents import masked_crc

from .run import KEYS, rows
from .wandb import field, varint

STARTED_AT, SECONDS = 1_790_000_000.0, 60.0


def write_tensorboard(path: Path, steps: int) -> None:
    """A run of so many steps of 60 scalars."""
    with path.open("wb") as file:
        file.write(_frame(b"\x09" + struct.pack("<d", STARTED_AT) + field(3, b"brain.Event:2")))
        for step, row in enumerate(rows(steps), start=1):
            head = b"\x09" + struct.pack("<d", STARTED_AT + SECONDS * step) + b"\x10" + varint(step)
            for key in KEYS:
                value = field(1, key.encode()) + b"\x15" + struct.pack("<f", row[key])
                file.write(_frame(head + field(5, field(1, value))))


def _frame(message: bytes) -> bytes:
    length = struct.pack("<Q", len(message))
    return length + struct.pack("<I", masked_crc(length)) + message + struct.pack("<I", masked_crc(message))
