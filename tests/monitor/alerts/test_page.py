"""docs/alerts.md against the rules that there are."""

from pathlib import Path

import pytest

from rltop.monitor.alerts import RULES
from rltop.monitor.alerts.options import options_listed

PAGE = Path(__file__).resolve().parents[3] / "docs" / "alerts.md"


@pytest.mark.parametrize("name", [rule.name for rule in RULES])
def test_the_page_lists_every_rule_with_its_settings_and_defaults(name: str) -> None:
    (rule,) = (rule for rule in RULES if rule.name == name)
    lines = PAGE.read_text("utf-8").splitlines()
    (row,) = (line for line in lines if line.startswith(f"| `{name}` | {rule.about} |"))
    for option in options_listed(rule, {}):
        if option.name not in ("enabled", "severity"):
            assert f"`{option.name}` {option.default:g}" in row
