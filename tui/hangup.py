"""A terminal that goes away under the screen, as when a connection breaks or a window is closed.

Its one rule: rltop goes with it.

The kernel sends a signal then, but only to those who have the terminal for their own; for others it stays
readable for ever, with nothing to read, and whoever waits for keys there takes a whole core.
"""

import os
import select
import signal
import sys
from threading import Thread


def leave_with_the_terminal() -> None:
    """Watch the terminal, if there is one, and end as by its signal once it is gone."""
    if sys.__stdin__ is None or not hasattr(select, "poll") or not sys.__stdin__.isatty():
        return
    Thread(target=_watch, args=(sys.__stdin__.fileno(),), name="terminal", daemon=True).start()


def _watch(terminal: int) -> None:
    waiting = select.poll()
    waiting.register(terminal, 0)  # nothing but its end wakes this: it costs no time
    waiting.poll()
    os.kill(os.getpid(), signal.SIGHUP)
    os._exit(128 + signal.SIGHUP)  # under nohup and the like the signal does nothing
