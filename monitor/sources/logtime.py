"""Times of day that log lines carry. Its one rule: all lines of a log are read the same way.

Loggers print local time without its zone. The machine that reads is taken to be in the zone of the
machine that wrote, which holds where a log is watched beside its run; differences hold everywhere. A
zone that is printed, as Kubernetes does, is heeded.
"""

import re
from datetime import datetime

STAMP = re.compile(
    r"(?<!\d)(\d{4})([-/]?)(\d\d)\2(\d\d)[ T-](\d\d:\d\d:\d\d)(?:[.,](\d{1,6})\d*)?(Z|[+-]\d\d:?\d\d(?!\d))?"
)
"""Such as `2026-07-20 17:53:16`, `2025-07-26 02:35:21,221`, `2026/07/20 17:53:16`, `20260720-17:53:16.250`
or `2026-07-20T17:53:16.250123456Z`."""
YEARLESS = re.compile(
    r"(?:(?<![\d-])(\d\d)-(\d\d)|\b[IWEF](\d\d)(\d\d)) (\d\d:\d\d:\d\d)(?:[.,](\d{1,6})\d*)?(?![\d:])"
)
"""Such as `INFO 02-26 03:57:11` of vLLM, `W0226 03:57:05.431000` of torch."""


def stamp_of(text: str, end: int | None = None) -> float | None:
    """Unix seconds of the last time of day in `text[:end]`, or None."""
    matches = list(STAMP.finditer(text, 0, len(text) if end is None else end))
    if not matches:
        return None
    year, _, month, day, time, fraction, zone = matches[-1].groups()
    return _seconds(year, month, day, time, fraction, zone)


class Clock:
    """The times of one log, with the year for those that come without it."""

    def __init__(self) -> None:
        self._last: float | None = None

    def at(self, text: str, end: int | None = None, near: float | None = None) -> float | None:
        """Unix seconds of the last time of day in `text[:end]`, or None.

        A time without a year is read only after one with it, or where `near`, Unix seconds, tells about
        when the line was written: it is taken to lie next to that.
        """
        found = stamp_of(text, end)
        if found is None:
            found = self._yearless(text[:end], near if self._last is None else self._last)
        if found is not None:
            self._last = found
        return found

    def _yearless(self, text: str, near: float | None) -> float | None:
        if near is None or not (matches := list(YEARLESS.finditer(text))):
            return None
        match = matches[-1]
        year = datetime.fromtimestamp(near).year
        times = [
            time
            for candidate in (year - 1, year, year + 1)
            if (
                time := _seconds(
                    str(candidate), match[1] or match[3], match[2] or match[4], match[5], match[6], None
                )
            )
            is not None
        ]
        return min(times, key=lambda time: abs(time - near), default=None)


def _seconds(
    year: str, month: str, day: str, time: str, fraction: str | None, zone: str | None
) -> float | None:
    try:
        whole = datetime.fromisoformat(f"{year}-{month}-{day}T{time}{zone or ''}").timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return whole + (float(f"0.{fraction}") if fraction else 0.0)
