"""Alerts: the rules, each in a file of its own, in the order in which a list shows them."""

from typing import Any

from . import budget, clip_ratio, length_growth, mfu_drop, nan, stall
from .rule import Rule

RULES: tuple[Rule[Any, Any], ...] = (
    nan.RULE,
    stall.RULE,
    budget.RULE,
    clip_ratio.RULE,
    length_growth.RULE,
    mfu_drop.RULE,
)
