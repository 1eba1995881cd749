"""Numbers as people read them: dollars, tokens, spans of time, shares. Pure, and the same on every surface.

What is not known (None), and what is no number (NaN, an infinity), is a dash.
"""

import math
import re
import unicodedata

UNKNOWN = "–"

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
"""Terminal sequences that move, colour or retitle."""

_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86_400


def usd(x: float | None) -> str:
    """Dollars: `$0.0042`, `$12.96`, `$233`, `$1.24k`, `$1.20M`. Cents are dropped from $100 on."""
    if x is None or not math.isfinite(x):
        return UNKNOWN
    if 0 < x < 0.00005:
        return "<$0.0001"
    sign = "-" if x <= -0.00005 else ""
    return f"{sign}${_dollars(abs(x))}"


def usd_change(x: float | None) -> str:
    """Dollars that something adds or saves, with their sign: `+$0.61`, `+$61`, `-$18`."""
    if x is None or not math.isfinite(x):
        return UNKNOWN
    # What is estimated from a projection has no cents to show.
    text = usd(x) if abs(x) < 9.995 or abs(x) >= 999.5 else f"{'-' if x < 0 else ''}${abs(x):.0f}"
    return f"+{text}" if text[0] in "$<" else text


def _dollars(x: float) -> str:
    if x < 0.00005 or 0.00995 <= x < 99.995:
        return f"{x:.2f}"
    if x < 0.00995:
        return _significant(x, 2)
    return _scaled(x, 3) if x >= 999.5 else f"{x:.0f}"


def usd_per_hour(x: float | None) -> str:
    """A rate: `$39.83/h`."""
    text = usd(x)
    return text if text == UNKNOWN else f"{text}/h"


def tokens(x: float | None) -> str:
    """A token count without its unit: `1 376`, and from ten thousand on `24.7k`, `24.7M`, `2.47G`."""
    if x is None or not math.isfinite(x):
        return UNKNOWN
    return integer(x) if abs(x) < 9_999.5 else tokens_compact(x)


def tokens_compact(x: float | None) -> str:
    """A token count where there is little room: `549`, `1.38k`, `24.7M`."""
    if x is None or not math.isfinite(x):
        return UNKNOWN
    return f"{x:.0f}" if abs(x) < 999.5 else _scaled(x, 3)


def tokens_unit(x: float | None) -> str:
    """A token count with its unit: `1 376 tok`."""
    text = tokens(x)
    return text if text == UNKNOWN else f"{text} tok"


def integer(x: float | None) -> str:
    """A whole number, in groups of three: `1 376`, `20 000`."""
    if x is None or not math.isfinite(x):
        return UNKNOWN
    return f"{round(x):,}".replace(",", " ")


def number(x: float | None) -> str:
    """Three significant digits: `0.79`, `0.0042`, `12.4`, `124`, `1.38k`, `4.2e-7`."""
    if x is None or not math.isfinite(x):
        return UNKNOWN
    size = abs(x)
    if size == 0:
        return "0"
    if size >= 999.5:
        return _scaled(x, 3)
    return _significant(x, 3) if size >= 1e-4 else _exponent(x)


def ratio(x: float | None) -> str:
    """A factor: `×2.5`, `×0.32`, `×12`."""
    if x is None or not math.isfinite(x):
        return UNKNOWN
    if abs(x) < 0.00005:
        return "×0"
    return f"×{_significant(x, 2)}" if abs(x) < 99.5 else f"×{integer(x)}"


def percent(x: float | None) -> str:
    """A share from 0 to 1: `0 %`, `1.9 %`, `44 %`. Never `0 %` for some, nor `100 %` for not quite all."""
    if x is None or not math.isfinite(x):
        return UNKNOWN
    points = x * 100
    if 0 < points < 0.05:
        return "<0.1 %"
    if 99.5 <= points < 100:
        return ">99 %"
    if abs(points) >= 9.95 or points == 0:
        return f"{points:.0f} %"
    return f"{points:.1f} %"


def duration(seconds: float | None) -> str:
    """A span in its two largest units: `0.8 s`, `45 s`, `12 m`, `2 h 14 m`, `3 d 4 h`."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if 0 < seconds < 0.95:
        return f"{seconds:.1f} s"
    if seconds < _MINUTE_S - 0.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / _MINUTE_S)
    if minutes < 60:
        return f"{minutes} m"
    if seconds < _DAY_S - _MINUTE_S / 2:
        return f"{minutes // 60} h {minutes % 60} m"
    hours = round(seconds / _HOUR_S)
    return f"{hours // 24} d {hours % 24} h"


def duration_compact(seconds: float | None) -> str:
    """A span of steady width, for a status line: `45s`, `12m`, `1h 09m`, `3d 04h`."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0:
        return f"-{duration_compact(-seconds)}"
    if seconds < _MINUTE_S - 0.5:
        return f"{seconds:.0f}s"
    minutes = round(seconds / _MINUTE_S)
    if minutes < 60:
        return f"{minutes}m"
    if seconds < _DAY_S - _MINUTE_S / 2:
        return f"{minutes // 60}h {minutes % 60:02d}m"
    hours = round(seconds / _HOUR_S)
    return f"{hours // 24}d {hours % 24:02d}h"


def ago(seconds: float | None) -> str:
    """How long since something: `just now`, `45 s ago`, `2 h 14 m ago`."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    return "just now" if seconds < 1 else f"{duration(seconds)} ago"


def _scaled(x: float, digits: int) -> str:
    """`x` of a thousand or more with a suffix; `digits` significant ones."""
    for size, suffix in ((1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")):
        # Rounding may carry over to the next suffix: 999 960 is 1.00M, not 1000k.
        if abs(x) < 999.5 * size:
            return f"{_significant(x / size, digits)}{suffix}"
    return _exponent(x)


def _significant(x: float, digits: int) -> str:
    """Plain decimal notation with `digits` significant ones, trailing zeros kept."""
    if x == 0:
        return "0"
    leading = math.floor(math.log10(abs(float(f"{x:.{digits - 1}e}"))))
    return f"{x:.{max(0, digits - 1 - leading)}f}"


def _exponent(x: float) -> str:
    mantissa, exponent = f"{x:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def printable(text: str) -> str:
    """Text of a log made safe for one line of a terminal: no escapes, control characters or line breaks."""
    if text.isprintable():
        return text
    return "".join(
        " " if ch.isspace() else ch
        for ch in _ESCAPES.sub("", text)
        if ch.isspace() or unicodedata.category(ch)[0] != "C"
    )
