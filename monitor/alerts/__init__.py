"""Alerts: the rules, each in a file of its own, in the order in which a list shows them."""

from collections.abc import Mapping
from typing import Any

from ...models.settings import RuleSetting
from . import (
    budget,
    clip_ratio,
    crash,
    deadline,
    entropy_collapse,
    eval_regression,
    gpu_idle,
    gpu_lost,
    gpu_throttled,
    grad_spike,
    kl_spike,
    length_collapse,
    length_growth,
    metric_unreliable,
    mfu_drop,
    mfu_low,
    nan,
    oom,
    price_change,
    provider_pause,
    reward_collapse,
    reward_plateau,
    stall,
    zero_variance,
)
from .options import RuleOptions, check_names, options_of
from .rule import Rule

RULES: tuple[Rule[Any, Any], ...] = (
    crash.RULE,
    nan.RULE,
    oom.RULE,
    gpu_lost.RULE,
    stall.RULE,
    provider_pause.RULE,
    budget.RULE,
    deadline.RULE,
    price_change.RULE,
    clip_ratio.RULE,
    length_growth.RULE,
    length_collapse.RULE,
    mfu_drop.RULE,
    mfu_low.RULE,
    gpu_idle.RULE,
    gpu_throttled.RULE,
    reward_collapse.RULE,
    reward_plateau.RULE,
    eval_regression.RULE,
    entropy_collapse.RULE,
    kl_spike.RULE,
    grad_spike.RULE,
    zero_variance.RULE,
    metric_unreliable.RULE,
)


def check_settings(said: Mapping[str, Mapping[str, RuleSetting]]) -> dict[str, RuleOptions]:
    """The settings of every rule by its name; raises RuleSettingsError when one is unknown or wrong."""
    rules = {rule.name: rule for rule in RULES}
    check_names(rules, said)
    return {name: options_of(rule, said.get(name, {})) for name, rule in rules.items()}
