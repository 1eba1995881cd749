"""docs/guide.md says what is so: its keys, its settings, its pictures, its commands."""

import re
from pathlib import Path

import pytest

from bench.keytable import PAGE, renewed
from rltop.cli import COMMANDS
from rltop.models.settings import Settings
from rltop.monitor.config import read
from rltop.tui.looks import check

TEXT = PAGE.read_text(encoding="utf-8")
DOCS = PAGE.parent


def test_the_table_of_keys_is_that_of_the_bindings() -> None:
    assert renewed(TEXT) == TEXT, "run `python -m bench.keytable`"


def test_the_settings_of_the_guide_can_be_used(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    path = tmp_path / "rltop.toml"
    path.write_text(example)
    settings = Settings.model_validate(read(path))
    check(settings.screen)
    assert settings.budget_usd == 150


def test_every_command_of_the_guide_is_one() -> None:
    named = set(re.findall(r"^ +rltop ([a-z]+)", TEXT, re.MULTILINE))
    assert named
    assert named <= COMMANDS.keys()


@pytest.mark.parametrize(
    "page", [*sorted(DOCS.glob("*.md")), DOCS.parent / "README.md"], ids=lambda page: page.name
)
def test_what_a_page_points_to_is_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
