"""What becomes of the screen when its terminal goes away."""

import os
import pty
import signal
import subprocess
import sys


def test_the_screen_ends_with_its_terminal_also_where_that_sends_no_signal() -> None:
    parent, child = pty.openpty()
    # A session of its own, without a terminal that is its own: the kernel sends it nothing.
    process = subprocess.Popen(
        [sys.executable, "-m", "rltop", "demo"],
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
        start_new_session=True,
    )
    os.close(child)
    try:
        seen = b""
        while b"overview" not in seen:
            seen += os.read(parent, 65_536)
        os.close(parent)
        assert process.wait(timeout=30) in (-signal.SIGHUP, 128 + signal.SIGHUP)
    finally:
        process.kill()
        process.wait()
