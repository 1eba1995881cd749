"""The GPUs of another machine, over the user's own ssh. Its one rule: nothing is installed or left there.

far.py is sent to a `python3` over there and asked for one look after the other; where there is no python3,
one nvidia-smi is started and read as it prints. ssh is as the user has set it up, with its keys, jumps and
shared connections; it may ask nothing (BatchMode), and it checks host keys as always.
"""

import math
import os
import select
import shlex
import subprocess
import tempfile
from importlib import resources
from typing import IO, Any, cast

from pydantic_core import from_json

from ...models.gpu import GpuSample
from ...models.text import duration, printable
from .devices import Devices
from .faults import RETRY_S
from .sampler import Found
from .snapshot import SMI_FIELDS, SMI_REASONS, Snapshot, smi_answer

OPTIONS = (
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "RemoteCommand=none",
)
BACKOFF_S = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Pause after the first, the second, … failure in a row."""
SMI_MARK, NO_MARK = "rltop: nvidia-smi", "rltop: nothing"
CHATTER = 200
"""Lines that a login may print before the far end says anything."""
LINE_LIMIT = 1_000_000
HINTS = (
    ("host key verification failed", "; connect once by hand to accept its key"),
    ("permission denied", "; it must let you in without a password"),
    ("could not resolve", "; give the host as ssh knows it"),
)


class Gone(Exception):
    """The connection has ended; the message is one line on why."""


class SshProbe:
    """One node."""

    def __init__(self, host: str) -> None:
        self.who = host
        self._host = host
        self._name = printable(host.rpartition("@")[2])
        self._snapshot = Snapshot()
        self._devices = Devices(lambda: self._snapshot)
        self._connection: Connection | None = None
        self._failures = 0
        self._backend = "ssh"

    def look(self, now: float, want_tensor: bool) -> Found:
        try:
            if self._connection is None:
                self._connection = Connection(self._host)
            answer = self._connection.ask(want_tensor)
        except Gone as gone:
            self._hang_up()
            retry_s = BACKOFF_S[min(self._failures, len(BACKOFF_S) - 1)]
            self._failures += 1
            return Found((), f"ssh {self._name}: {gone}; trying again in {duration(retry_s)}", retry_s)
        self._failures = 0
        hangs_s = answer.get("hangs_s")
        if isinstance(hangs_s, int | float):
            return Found((), f"the NVIDIA driver of {self._name} has not answered for {duration(hangs_s)}")
        self._backend = self._connection.backend
        self._snapshot.take_in(answer)
        sweep = self._devices.sweep(now, want_tensor)
        if math.isinf(sweep.retry_s):
            # Only a new process can succeed, and over there that takes no more than to connect anew.
            self._hang_up()
            sweep = sweep._replace(retry_s=RETRY_S)
        if not sweep.gpus:
            return Found((), f"{self._name}: {sweep.note}", sweep.retry_s)
        sample = GpuSample(at=now, host=self._name, backend=self._backend, gpus=sweep.gpus, note=sweep.note)
        return Found((sample,), sweep.note and f"{self._name}: {sweep.note}", sweep.retry_s)

    def cut(self) -> None:
        connection = self._connection
        if connection is not None:
            connection.cut()

    def close(self) -> None:
        self._devices.close()
        self._hang_up()

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class Connection:
    """One run of ssh."""

    def __init__(self, host: str) -> None:
        """
        Raises:
            Gone: there is no ssh here.
        """
        self.backend = "ssh"
        self._buffer = b""
        self._program = resources.files(__package__ or "").joinpath("far.py").read_bytes()
        self._sent = False
        # A file, not a pipe: a connection that is shared with others keeps it open after we have gone.
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        options = [word for option in OPTIONS for word in ("-o", option)]
        try:
            self._process = subprocess.Popen(
                ["ssh", "-T", *options, "--", host, remote_command(len(self._program))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                bufsize=0,
                start_new_session=True,  # ^C is for rltop, and there is no terminal to ask for a password on
            )
        except OSError as error:
            self._complaints.close()
            raise Gone(f"cannot start ssh: {error.strerror}") from None

    def ask(self, want_tensor: bool) -> dict[str, Any]:
        """The next answer. Blocks until it is there.

        Raises:
            Gone: the connection has ended.
        """
        if self.backend == "nvidia-smi":
            return self._newest_table()
        try:
            if not self._sent:
                self._write(self._program)
                self._sent = True
            self._write(b"1\n" if want_tensor else b"0\n")
        except OSError:
            raise Gone(self._reason()) from None
        for _ in range(CHATTER):
            line = self._line()
            if line == SMI_MARK:
                self.backend = "nvidia-smi"
                return self._newest_table()
            if line == NO_MARK:
                return {"error": 12}
            if line.startswith("{"):
                try:
                    return cast("dict[str, Any]", from_json(line))
                except ValueError:
                    continue
        raise Gone("it answers, but not to the question")

    def cut(self) -> None:
        """End it from another thread: whoever waits for an answer gets Gone."""
        self._process.kill()

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(0.5)  # the far end goes when its input does
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._complaints.close()

    def _newest_table(self) -> dict[str, Any]:
        """The newest whole table, once there is one; older ones that wait are passed over."""
        rows: list[list[str]] = []
        table: list[list[str]] | None = None
        while table is None or rows or self._waiting():
            row = [cell.strip() for cell in self._line().split(",")]
            if len(row) < len(SMI_FIELDS):
                continue  # a remark between the rows
            rows.append(row)
            if len(rows) >= int(row[0] if row[0].isdigit() else 1):
                table, rows = rows, []
        return smi_answer(table)

    def _waiting(self) -> bool:
        out = self._process.stdout
        return b"\n" in self._buffer or (out is not None and bool(select.select([out], [], [], 0)[0]))

    def _line(self) -> str:
        """The next line.

        Raises:
            Gone: there is none any more.
        """
        out = self._process.stdout
        while b"\n" not in self._buffer:
            data = b"" if out is None else os.read(out.fileno(), 65536)
            if not data or len(self._buffer) > LINE_LIMIT:
                raise Gone(self._reason())
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace").strip()

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        while data:
            data = data[self._process.stdin.write(data) or 0 :]

    def _reason(self) -> str:
        """What ssh said last."""
        try:
            self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            return "the connection has been lost"
        self._complaints.seek(0)
        lines = [
            printable(line) for line in self._complaints.read(65536).decode("utf-8", "replace").splitlines()
        ]
        said = next((line for line in reversed(lines) if line.strip()), "the connection has been lost")
        return said.removeprefix("ssh: ").rstrip(".\r ") + next(
            (hint for part, hint in HINTS if part in said.lower()), ""
        )


def remote_command(program_size: int) -> str:
    """What the login shell over there is given, whichever shell it is."""
    query = ",".join(SMI_FIELDS)
    form = "--format=csv,noheader,nounits"
    # One line: a C shell has none longer in quotes.
    script = (
        "if python3 -c 'import ctypes, sys; sys.exit(sys.version_info < (3, 6))' >/dev/null 2>&1; then "
        f"exec python3 -I -u -c 'import sys; exec(sys.stdin.read({program_size}))'; fi; "
        "if command -v nvidia-smi >/dev/null 2>&1; then "
        f"echo '{SMI_MARK}'; fields={query}; "
        f"nvidia-smi --query-gpu=$fields,{SMI_REASONS} {form} >/dev/null 2>&1 "
        f"&& fields=$fields,{SMI_REASONS}; "
        f"exec nvidia-smi --query-gpu=$fields {form} -lms 2000; fi; "
        f"echo '{NO_MARK}'"
    )
    return f"exec sh -c {shlex.quote(script)}"
