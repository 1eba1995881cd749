"""The user's settings of the rules, laid over the defaults. A wrong one is an error that names it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from math import isfinite
from typing import Any, get_args

from ...models.alert import Severity
from ...models.settings import RuleSetting, SettingsError
from .rule import Debounce, Rule


class RuleSettingsError(SettingsError):
    """A setting of an alert rule that does not exist or has a value of the wrong kind."""

    def __init__(self, rule: str, key: str | None, problem: str) -> None:
        where = f"alerts.{rule}" if key is None else f"alerts.{rule}.{key}"
        super().__init__(f"{where}: {problem}")
        self.rule = rule
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Option:
    """One setting of a rule as it stands, for a list of rules."""

    rule: str
    name: str
    value: RuleSetting
    default: RuleSetting


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """What the user may say of any rule, and the rule's own limits (its dataclass)."""

    limits: Any
    debounce: Debounce
    enabled: bool = True
    severity: Severity | None = None
    """Every alert of the rule gets this severity instead of its own."""


def options_of(rule: Rule[Any, Any], said: Mapping[str, RuleSetting]) -> RuleOptions:
    """The settings of one rule; raises SettingsError."""
    defaults = {field.name: getattr(rule.limits, field.name) for field in fields(rule.limits)}
    common: dict[str, RuleSetting] = {"enabled": True, "severity": "", "clear_after": rule.debounce.clear}
    values: dict[str, RuleSetting] = {}
    for key, value in said.items():
        default = defaults.get(key, common.get(key))
        if default is None:
            raise RuleSettingsError(rule.name, key, _unknown(key, (*defaults, *common)))
        values[key] = _checked(rule.name, key, value, default)
    clear = int(values.pop("clear_after", rule.debounce.clear))
    enabled = bool(values.pop("enabled", True))
    severity = values.pop("severity", "") or None
    return RuleOptions(
        limits=replace(rule.limits, **values),
        debounce=replace(rule.debounce, clear=clear),
        enabled=enabled,
        severity=_severity(rule.name, severity),
    )


def check_names(rules: Mapping[str, Any], said: Mapping[str, Any]) -> None:
    """Raises SettingsError when the settings name a rule that there is not."""
    for name in said:
        if name not in rules:
            raise RuleSettingsError(
                name, None, f"no such rule{_nearest(name, tuple(rules))}; `rltop alerts` lists them"
            )


def options_listed(rule: Rule[Any, Any], said: Mapping[str, RuleSetting]) -> tuple[Option, ...]:
    """All settings of one rule with their present and default values; raises SettingsError."""
    present = options_of(rule, said)
    own = tuple(
        Option(rule.name, f.name, getattr(present.limits, f.name), getattr(rule.limits, f.name))
        for f in fields(rule.limits)
    )
    return (
        Option(rule.name, "enabled", present.enabled, True),
        Option(rule.name, "severity", present.severity or "", ""),
        Option(rule.name, "clear_after", present.debounce.clear, rule.debounce.clear),
        *own,
    )


def _severity(rule: str, value: RuleSetting | None) -> Severity | None:
    for severity in get_args(Severity):
        if value == severity:
            return severity
    if value is None:
        return None
    known = ", ".join(get_args(Severity))
    raise RuleSettingsError(rule, "severity", f"must be one of {known}, not {value!r}")


def _checked(rule: str, key: str, value: RuleSetting, default: RuleSetting) -> RuleSetting:
    """`value` as the kind that `default` is of."""
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise RuleSettingsError(rule, key, f"must be true or false, not {value!r}")
    if isinstance(default, str):
        if isinstance(value, str):
            return value
        raise RuleSettingsError(rule, key, f"must be a word, not {value!r}")
    if isinstance(value, bool | str) or not isfinite(value) or value < 0:
        raise RuleSettingsError(rule, key, f"must be a number of 0 or more, not {value!r}")
    if isinstance(default, int):
        if value < 1 or value != int(value):
            raise RuleSettingsError(rule, key, f"must be a whole number of 1 or more, not {value!r}")
        return int(value)
    return float(value)


def _unknown(key: str, known: tuple[str, ...]) -> str:
    return "no such setting" + _nearest(key, known) + f"; it has {', '.join(known)}"


def _nearest(word: str, known: tuple[str, ...]) -> str:
    match = get_close_matches(word, known, n=1)
    return f" (did you mean {match[0]}?)" if match else ""
