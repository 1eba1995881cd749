"""`rltop alerts`: every rule with its settings and where each is from; on a run, whether it is watched."""

import argparse

from .. import arguments
from ..models.alert import Watch
from ..models.report import RuleReport, RuleSettingReport, RulesReport
from ..models.text import printable
from ..monitor.alerts import RULES
from ..monitor.alerts.options import Option, options_listed
from ..monitor.alerts.rule import Rule
from ..monitor.clock import SystemClock
from ..monitor.config import origins
from ..monitor.session import Session
from ..monitor.target import TargetError
from .flags import complain, config_files, settings_of, unreadable
from .opening import pipeline, sources_of

DEFAULT = "default"
NAME_CELLS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """A run to look at, and how to print."""
    parser.add_argument("target", nargs="?", metavar="TARGET", help="say which rules are watched on this run")
    parser.add_argument("--json", action="store_true", help="print the rules as JSON")
    arguments.settings(parser)


def run(args: argparse.Namespace) -> int:
    """List the rules."""
    settings = settings_of(args)
    watched: dict[str, Watch] = {}
    if args.target is not None:
        try:
            sources = sources_of(args.target)
        except TargetError as error:
            return complain(str(error))
        frame = Session(sources, pipeline(settings), SystemClock()).read_all()
        if why := unreadable(frame.state):
            return complain(why)
        watched = {watch.rule: watch for watch in frame.watched}
    said_in = origins(config_files(), args.target)
    rules = [
        _told(rule, options_listed(rule, settings.alerts.get(rule.name, {})), said_in, watched.get(rule.name))
        for rule in RULES
    ]
    report = RulesReport(target=args.target, rules=tuple(rules))
    print(report.model_dump_json(by_alias=True, indent=2) if args.json else page(report))
    return 0


def _told(
    rule: Rule[object, object],
    options: tuple[Option, ...],
    said_in: dict[tuple[str, ...], str],
    watch: Watch | None,
) -> RuleReport:
    by_name = {option.name: option for option in options}
    return RuleReport(
        rule=rule.name,
        about=rule.about,
        enabled=bool(by_name["enabled"].value),
        severities=_severities(rule, by_name["severity"]),
        settings=tuple(
            RuleSettingReport(
                name=option.name,
                value=option.value,
                default=option.default,
                origin=said_in.get(("alerts", rule.name, option.name), DEFAULT),
            )
            for option in options
        ),
        watched=watch.watched if watch is not None else None,
        why=watch.why if watch is not None else "",
    )


def _severities(rule: Rule[object, object], said: Option) -> tuple[str, ...]:
    return (str(said.value),) if said.value else rule.severities


def page(report: RulesReport) -> str:
    """The rules as text: one a paragraph, its settings below it."""
    lines: list[str] = []
    for rule in report.rules:
        lines += [*_heading(rule), ""]
    return "\n".join(printable(line) for line in lines[:-1])


def _heading(rule: RuleReport) -> list[str]:
    state = "on" if rule.enabled else "off"
    if rule.enabled and rule.watched is not None:
        state = "watched" if rule.watched else "not watched"
    lines = [f"{rule.rule:<{NAME_CELLS}}{state} · {_either(rule.severities)} · {rule.about}"]
    if rule.why and rule.enabled:
        lines.append(f"  {rule.why}")
    for setting in rule.settings:
        if setting.origin != DEFAULT:
            lines.append(f"  {_named(setting)}{setting.origin} (default {_word(setting.default)})")
        elif setting.name not in ("enabled", "severity"):
            lines.append(f"  {_named(setting)}{DEFAULT}")
    return lines


def _either(words: tuple[str, ...]) -> str:
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _named(setting: RuleSettingReport) -> str:
    return f"{setting.name:<{NAME_CELLS - 2}}{_word(setting.value):<10}"


def _word(value: float | int | bool | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value or "the rule's own"
    return f"{value:g}"
