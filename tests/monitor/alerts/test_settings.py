"""The user's thresholds: used where they are right, and named where they are wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from rltop.models.settings import RuleSetting, Settings, SettingsError
from rltop.monitor.alerts import RULES
from rltop.monitor.alerts.engine import AlertEngine
from rltop.monitor.alerts.options import options_listed

if TYPE_CHECKING:
    from tests.monitor.alerts.conftest import Told


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ({"clip_ratios": {"warn": 0.1}}, ("clip_ratios", "clip_ratio?")),
        ({"clip_ratio": {"warm": 0.1}}, ("clip_ratio.warm", "warn?")),
        ({"clip_ratio": {"warn": "much"}}, ("clip_ratio.warn", "number")),
        ({"clip_ratio": {"warn": True}}, ("clip_ratio.warn", "number")),
        ({"clip_ratio": {"warn": -0.1}}, ("clip_ratio.warn", "-0.1")),
        ({"clip_ratio": {"warn": float("nan")}}, ("clip_ratio.warn", "nan")),
        ({"clip_ratio": {"base_steps": 2.5}}, ("clip_ratio.base_steps", "whole")),
        ({"clip_ratio": {"clear_after": 0}}, ("clip_ratio.clear_after", "1 or more")),
        ({"clip_ratio": {"enabled": 1}}, ("clip_ratio.enabled", "true or false")),
        ({"clip_ratio": {"severity": "fatal"}}, ("clip_ratio.severity", "critical")),
        ({"clip_ratio": {"severity": 3}}, ("clip_ratio.severity",)),
    ],
)
def test_a_wrong_setting_is_an_error_of_one_line_that_names_it(
    said: dict[str, dict[str, RuleSetting]], names: tuple[str, ...]
) -> None:
    with pytest.raises(SettingsError) as caught:
        AlertEngine(Settings(alerts=said))
    message = str(caught.value)
    assert "\n" not in message
    for name in names:
        assert name in message


def test_a_threshold_of_the_users_own_is_used(told_with: Callable[..., Told]) -> None:
    run = told_with(settings=Settings(alerts={"clip_ratio": {"warn": 0.02, "rise": 0.01}}))
    for share in [0.0] * 10 + [0.05] * 8:
        run.step(clip_ratio=share, clip_reliable=True)
    (alert,) = run.alerts("clip_ratio")
    assert alert.threshold == pytest.approx(0.02)


def test_a_whole_number_may_stand_for_a_fraction(told_with: Callable[..., Told]) -> None:
    assert told_with(settings=Settings(alerts={"length_growth": {"warn": 2}})).engine.alerts == ()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_default_of_every_rule_is_a_valid_setting(rule: object) -> None:
    name = next(r.name for r in RULES if r is rule)
    listed = options_listed(next(r for r in RULES if r is rule), {})
    said = {option.name: option.default for option in listed if option.default != ""}
    AlertEngine(Settings(alerts={name: said}))
    assert {"enabled", "severity", "clear_after"} <= {option.name for option in listed}
