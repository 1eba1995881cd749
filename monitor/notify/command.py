"""Runs the user's own command for a critical alert, with the alert as JSON on its standard input.

Its one rule: the command is the user's words and nothing else. What a log says reaches it on standard input
alone, and no shell is asked.
"""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from queue import SimpleQueue

from pydantic import Field

from ...models.alert import Alert
from ...models.text import printable
from ...models.value import Value
from .news import Change, Notice

_LONGEST = 160


class CommandInput(Value):
    """What the command reads, one JSON object; fields may be added."""

    schema_: int = Field(default=1, alias="schema")
    change: Change
    run: str
    stand: str
    alert: Alert


class OnCritical:
    """The command and a thread that runs it, one at a time, for as long as `timeout_s` each."""

    def __init__(self, words: Sequence[str], timeout_s: float) -> None:
        self._words = list(words)
        self._timeout_s = timeout_s
        self._queue: SimpleQueue[Notice | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="rltop-on-critical", daemon=True)
        self._started = False
        self.trouble = ""
        """One line on the last time that it failed; empty once it has worked again."""

    def post(self, notices: Sequence[Notice]) -> None:
        """Run it for each of these that is urgent. Returns at once."""
        for notice in notices:
            if notice.urgent:
                if not self._started:
                    self._started = True
                    self._thread.start()
                self._queue.put(notice)

    def close(self) -> None:
        """Run it for what still waits, and end. Returns at once; see `join`."""
        self._queue.put(None)

    def join(self, timeout_s: float) -> str:
        """Wait for the end; what went wrong, in one line. A command that still runs is left to itself."""
        if self._started:
            self._thread.join(timeout_s)
        if self._thread.is_alive():
            return f"--on-critical {self._name} still runs, and is left to itself"
        return self.trouble

    @property
    def _name(self) -> str:
        return printable(self._words[0])

    def _run(self) -> None:
        while (notice := self._queue.get()) is not None:
            told = CommandInput(
                change=notice.change, run=notice.run, stand=notice.stand, alert=notice.alert
            ).model_dump_json(by_alias=True)
            why = run_command(self._words, told, self._timeout_s)
            self.trouble = f"--on-critical {self._name}: {why}" if why else ""


def run_command(words: Sequence[str], told: str, timeout_s: float) -> str:
    """Run it to its end; why that failed, in one line, or nothing. What it prints goes nowhere, but for the
    last line on its standard error, which is quoted where it fails."""
    # Files and no pipes: a command that does not read, or prints without end, holds up nothing.
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(f"{told}\n".encode())
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                words, stdin=stdin, stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True
            )
        except OSError as error:
            return f"cannot be run: {error.strerror or error}"
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            _end(process)
            return f"took longer than {timeout_s:g} s and was ended"
        if code == 0:
            return ""
        stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - 4096))
        said = printable(" ".join(stderr.read().decode(errors="replace").strip().splitlines()[-1:]))
        return f"exit code {code}" + (f": {said[:_LONGEST]}" if said else "")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the command and whatever it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()
    process.wait()
