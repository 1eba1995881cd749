"""Where bytes come from: followed files, compressed files, standard input. Never raises, never parses."""

import os
import stat
from pathlib import Path

from ..source import Transport
from .gzip import MAGIC, GzipFile
from .local import LocalFile


def open_transport(path: Path) -> Transport:
    """The transport for a file, by its first bytes; one that is not there yet is taken for a plain log."""
    return GzipFile(path) if _first_bytes(path) == MAGIC else LocalFile(path)


def _first_bytes(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""  # opening a pipe would take bytes out of it
        with path.open("rb", buffering=0) as file:
            return file.read(len(MAGIC)) or b""
    except OSError:
        return b""  # the transport will say why
