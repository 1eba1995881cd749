"""Round ticks, and ticks as people read them. Pure."""

import math

from . import text

_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


def nice_step(span: float, count: int) -> float:
    """The smallest round distance that cuts `span` into at most `count` parts."""
    if not span > 0 or not math.isfinite(span):
        return 1.0
    rough = span / max(count, 1)
    size = 10.0 ** math.floor(math.log10(rough))
    return next(nice * size for nice in _NICE if nice * size >= rough * (1 - 1e-9))


def ticks(low: float, high: float, step: float) -> list[float]:
    """Multiples of `step` within low … high."""
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def nice_top(high: float, count: int) -> float:
    """A round value at or just above `high`, so that the scale seldom moves."""
    if not high > 0:
        return 1.0
    half = nice_step(high, count) / 2
    return math.ceil(high / half - 1e-9) * half


def label(value: float, step: float) -> str:
    """A number on an axis whose ticks are `step` apart: `0`, `0.25`, `1500`, `12k`, `2.5M`, `2e-5`."""
    if value == 0:
        return "0"
    size = abs(value)
    if size < 1e-4:
        return f"{value:.1e}".replace("e-0", "e-").replace(".0e", "e")
    for unit, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= unit * (10 if suffix == "k" else 1):
            return f"{value / unit:.{_decimals(step / unit)}f}{suffix}"
    return f"{value:.{_decimals(step)}f}"


def dollars(value: float, step: float) -> str:
    """Dollars on an axis: `$0`, `$50`, `$2.50`, `$1 500`, `$12k`."""
    if value == 0:
        return "$0"
    decimals = _decimals(step)
    if abs(value) < 10_000:
        return f"${value:.2f}" if decimals == 1 else f"${value:,.{decimals}f}".replace(",", " ")
    return f"${label(value, step)}"


def token_count(value: float, step: float) -> str:
    """Tokens on an axis: `0`, `500`, `1 500`, `12k`."""
    return text.integer(value) if abs(value) < 10_000 and step >= 1 else label(value, step)


def share(value: float, step: float) -> str:
    """A share from 0 to 1 on an axis: `0 %`, `50 %`."""
    return f"{value * 100:.{_decimals(step * 100)}f} %"


def _decimals(step: float) -> int:
    """Digits behind the point that tell two ticks apart."""
    if step >= 1 and step == round(step):
        return 0
    digits = max(0, -math.floor(math.log10(step)))
    return digits if round(step, digits) == step else digits + 1
