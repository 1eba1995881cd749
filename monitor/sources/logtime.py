"""Times of day that log lines carry. Its one rule: all lines of a log are read the same way.

Loggers print local time without its zone. The machine that reads is taken to be in the zone of the
machine that wrote, which holds where a log is watched beside its run; differences hold everywhere.
"""

import re
from datetime import datetime

STAMP = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?")
"""Such as `2026-07-20 17:53:16`, `2025-07-26 02:35:21,221` or `2026-07-20T17:53:16.250`."""


def stamp_of(text: str, end: int | None = None) -> float | None:
    """Unix seconds of the last time of day in `text[:end]`, or None."""
    matches = list(STAMP.finditer(text, 0, len(text) if end is None else end))
    if not matches:
        return None
    found = matches[-1]
    try:
        whole = datetime.fromisoformat(f"{found[1]}T{found[2]}").timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return whole + (float(f"0.{found[3]}") if found[3] else 0.0)
