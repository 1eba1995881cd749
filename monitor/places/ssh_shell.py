"""A plain sh on the far side of ssh, asked command by command.

Its one rule: no wait without an end. Whatever stays silent for too long, dies or babbles is a ShellError.
Commands go down the shell's standard input, so that the user's login shell, whichever it is, has nothing of
ours to interpret; each answer ends with a word made up for it alone, so that it may hold any bytes.
"""

import os
import secrets
import selectors
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, NamedTuple, Self

from ...models.text import printable
from ..reader import Pause

SILENCE_S = 30.0
"""Patience with a far side that says nothing, from the first connection on."""
SLICE_S = 0.25
"""How soon it is noticed that all is over."""
READ_BYTES = 256 * 1024
MOST_BYTES = 64 * 1024 * 1024
"""An answer that is longer than any that was asked for."""
KEPT_STDERR = 4096
LEAVE_S = 1.0

HINTS = (
    (
        "Host key verification failed",
        "run `ssh {host}` once, and accept the key only if it is right",
    ),
    (
        "Permission denied",
        "rltop asks for no password: is the key in the agent, does `ssh {host}` work?",
    ),
    ("Could not resolve hostname", "is the name right, or a Host of ~/.ssh/config?"),
)


class Answer(NamedTuple):
    """What a command wrote, and how it ended."""

    data: bytes
    status: int


class ShellError(Exception):
    """The far side cannot be asked; one line. `refused`: asking again soon would not help."""

    def __init__(self, reason: str, refused: bool = False) -> None:
        super().__init__(printable(reason))
        self.refused = refused


class Over(Exception):
    """The user has left."""


class Shell:
    """One connection. A context manager: it ends with the block."""

    def __init__(self, argv: Sequence[str], pause: Pause, silence_s: float = SILENCE_S) -> None:
        self._host = argv[-2]
        self._pause = pause
        self._slices = max(1, round(silence_s / SLICE_S))
        self._silence_s = silence_s
        self._out = bytearray()
        self._err = b""
        self._err_open = True
        try:
            # A session of its own: nothing that ssh starts can ask on our terminal, nor hear its Ctrl-C.
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise ShellError("no `ssh` on the PATH: install OpenSSH's client", refused=True) from None
        except OSError as error:
            raise ShellError(f"ssh cannot be started: {error.strerror or error}", refused=True) from None
        self._pipes = [pipe.fileno() for pipe in self._files()]
        for fd in self._pipes:
            os.set_blocking(fd, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, commands: Sequence[str]) -> list[Answer]:
        """Run commands one after another; what each wrote to its standard output.

        Raises:
            ShellError: the connection is lost, silent or senseless.
            Over: the pause is over, for good.
        """
        tokens = [secrets.token_hex(16) for _ in commands]
        script = "".join(
            f"{command}\nprintf '\\n%s %s.\\n' {token} $?\n"
            for command, token in zip(commands, tokens, strict=True)
        )
        self._exchange(script.encode(errors="surrogateescape"), tokens[-1].encode())
        return [self._cut(token) for token in tokens]

    def close(self) -> None:
        """End the connection: the far side's shell ends with its input."""
        for file in self._files():
            file.close()
        try:
            self._process.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            try:
                self._process.wait(LEAVE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _files(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        return stdin, stdout, stderr

    def _exchange(self, script: bytes, last: bytes) -> None:
        """Send, and receive until the last answer is in: both at once, or each might wait for the other."""
        stdin, stdout, stderr = self._pipes
        unsent, silent, searched = memoryview(script), 0, 0
        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            if self._err_open:
                selector.register(stderr, selectors.EVENT_READ)
            while not (self._out.find(last, searched) >= 0 and self._out.endswith(b".\n")):
                searched = max(0, len(self._out) - len(last) - 16)
                if self._pause.is_set():
                    raise Over
                ready = [key.fd for key, _ in selector.select(SLICE_S)]
                silent = 0 if ready else silent + 1
                if silent > self._slices:
                    raise ShellError(f"no answer from {self._host} for {self._silence_s:g} s")
                if stdin in ready:
                    unsent = self._send(unsent)
                    if not unsent:
                        selector.unregister(stdin)
                if stdout in ready:
                    self._receive()
                if stderr in ready and not self._hear():
                    selector.unregister(stderr)

    def _send(self, unsent: memoryview) -> memoryview:
        try:
            return unsent[os.write(self._pipes[0], unsent[:READ_BYTES]) :]
        except BlockingIOError:
            return unsent
        except OSError:
            return unsent[:0]  # it is gone: what it said last is still to be read

    def _receive(self) -> None:
        try:
            data = os.read(self._pipes[1], READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            raise self._gone()
        self._out += data
        if len(self._out) > MOST_BYTES:
            raise ShellError(f"{self._host} does not answer what was asked: its login prints without an end")

    def _hear(self) -> bool:
        """Keep the end of what ssh complains of; False when it has closed its mouth."""
        try:
            said = os.read(self._pipes[2], KEPT_STDERR)
        except BlockingIOError:
            return True
        except OSError:
            said = b""
        self._err = (self._err + said)[-KEPT_STDERR:]
        self._err_open = bool(said)
        return self._err_open

    def _gone(self) -> ShellError:
        """Why the connection has ended, in ssh's own last words."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVE_S)
        before = None
        while self._err_open and before != self._err:
            before = self._err
            self._hear()
        lines = [line.strip() for line in self._err.decode("utf-8", "replace").splitlines() if line.strip()]
        if not lines:
            return ShellError(f"the connection to {self._host} has ended")
        said = lines[-1]
        if "UNKNOWN port" in said and len(lines) > 1:
            said = (
                f"{lines[-2]} ({said})"  # ssh's last words on a jump that failed; the reason is before them
            )
        for sign, hint in HINTS:
            if sign in said:
                return ShellError(f"{said.rstrip('.')}: {hint.format(host=self._host)}", refused=True)
        return ShellError(said)

    def _cut(self, token: str) -> Answer:
        """Take one answer out of what has come."""
        sign = f"\n{token} ".encode()
        begin = self._out.find(sign)
        end = self._out.find(b".\n", begin + len(sign))
        status = bytes(self._out[begin + len(sign) : end])
        if begin < 0 or end < 0 or not (status.isdigit() and len(status) < 4):
            raise ShellError(f"{self._host} does not answer what was asked")
        answer = Answer(bytes(self._out[:begin]), int(status))
        del self._out[: end + 2]
        return answer
