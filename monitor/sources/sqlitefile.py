"""A SQLite database that another program writes. Its one rule: it is read, never written, hardly waited for.

Each poll opens it anew, so that a database that was moved, replaced or is on a mount that came back is seen
as it is. A writer in the middle of a transaction is no error: what it writes is seen at the next poll.
"""

import sqlite3
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from ...models.event import Event
from ..source import Unreadable
from .several import Choice

BUSY_S = 0.2
"""Patience with a writer that holds the database."""


@contextmanager
def opened(path: Path) -> Generator[sqlite3.Connection]:
    """A read-only connection.

    Raises:
        Unreadable: it is gone, damaged, locked for long, or not what its name says; also from within.
    """
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=BUSY_S)
        connection.text_factory = _decoded
        yield connection
    except sqlite3.Error as error:
        raise Unreadable(_why(path, error)) from None
    except UnicodeDecodeError:
        # SQLite names what is wrong with its schema by the schema's own bytes, which may be anything.
        raise Unreadable(f"{path}: database disk image is malformed") from None
    finally:
        if connection is not None:
            connection.close()


def polled(path: Path, read: Callable[[sqlite3.Connection], Iterable[Event]]) -> tuple[list[Event], str]:
    """The events that are made of a database, and why there are no more, where it cannot be read now."""
    events: list[Event] = []
    try:
        with opened(path) as database:
            events.extend(read(database))
    except Unreadable as error:
        return events, str(error)
    return events, ""


def found(path: Path, choose: Callable[[sqlite3.Connection], Choice]) -> Choice:
    """The run of a database that the user has named.

    Raises:
        Unreadable: it is not there, or the database cannot be read now.
    """
    with opened(path) as database:
        return choose(database).required()


def columns_of(path: Path) -> dict[str, frozenset[str]]:
    """The names of the columns by table.

    Raises:
        Unreadable: see `opened`.
    """
    with opened(path) as database:
        return columns_in(database)


def columns_in(database: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """The names of the columns by table."""
    rows = database.execute(
        "SELECT tables.name, columns.name FROM sqlite_master AS tables"
        " JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'"
    ).fetchall()
    found: dict[str, frozenset[str]] = {}
    for table, column in rows:
        found[str(table)] = found.get(str(table), frozenset()) | {str(column)}
    return found


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _why(path: Path, error: sqlite3.Error) -> str:
    if not path.exists():
        return f"{path}: no such file"
    words = str(error)
    if "unable to open" in words:
        # To read a database in WAL mode, its -shm file has to be readable, or its folder writable.
        return f"{path}: cannot be opened; may you read it, and its -wal and -shm files?"
    return f"{path}: {words}"
