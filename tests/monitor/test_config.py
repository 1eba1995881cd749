"""rltop.toml: merged, checked, and named when it is wrong."""

import os
from pathlib import Path

import pytest

from rltop.models.run import RunInfo
from rltop.models.settings import Settings, SettingsError
from rltop.monitor.config import load, origins
from rltop.monitor.money.book import Book
from rltop.monitor.money.pricing import resolve


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_later_file_wins_key_by_key(tmp_path: Path) -> None:
    user = write(tmp_path / "user.toml", "budget_usd = 40\n[gpu_prices]\nB200 = 4.2\nH100 = 2.1\n")
    project = write(tmp_path / "project.toml", "budget_usd = 90\n[gpu_prices]\nB200 = 3.9\n")
    assert load((user, tmp_path / "missing.toml", project)) == {
        "budget_usd": 90,
        "gpu_prices": {"B200": 3.9, "H100": 2.1},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budget_usd = 40\nbudgte = 3\n", r"x\.toml, line 2: budgte: unknown setting; known are budget_usd"),
        ('\n\nbudget_usd = "much"\n', r"x\.toml, line 3: budget_usd: .*number"),
        ("usd_per_gpu_hour = inf\n", r"x\.toml, line 1: usd_per_gpu_hour: .*less than"),
        ("budget_usd = nan\n", r"x\.toml, line 1: budget_usd: "),
        ('[keys]\nkl = { key = "a", factor = 0 }\n', r"line 2: keys\.kl\.factor: .*greater than 0"),
        ('[keys]\nkl = ""\n', r"line 2: keys\.kl\.key: .*at least 1 character"),
        ("[gpu_prices]\nB200 = []\n", r"x\.toml, line 2: gpu_prices\.B200: .*number"),
        ("budget_usd = \n", r"x\.toml: not TOML: .*line 1"),
        (
            "[alerts.nan]\nenabled = true\n\n[alerts.budget]\nwarm = 0.4\n",
            r"line 5: alerts\.budget\.warm: .*warn\?",
        ),
        (
            "[alerts.clips]\nwarn = 1\n[alerts.budget]\nwarn = -1\n",
            r"line 1: alerts\.clips: no such rule.*rltop alerts",
        ),
        ("[alerts.budget]\nwarn = 0.4\n[alerts.stall]\nfactor = -1\n", r"line 4: alerts\.stall\.factor"),
        (
            '[runs."a.b-*"]\nbudgte = 4\n',
            r"line 2: runs\.a\.b-\*\.budgte: unknown setting; known are budget_usd",
        ),
        ('[runs."a"]\n[runs."a".alerts.nan]\nseverity = "odd"\n', r"line 3: runs\.a\.alerts\.nan\.severity"),
    ],
)
def test_a_wrong_setting_names_file_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load((write(tmp_path / "x.toml", text),))


@pytest.mark.parametrize(
    ("said", "usd"), [({"B200": 4.2}, 4.2), ({"NVIDIA B200": 4.1}, 4.1), ({"H100": 1.0}, 5.0)]
)
def test_the_users_price_of_a_gpu_type_beats_the_table(said: dict[str, float], usd: float) -> None:
    info = RunInfo(platform="self-hosted", gpus=8, gpu_type="B200")
    pricing = resolve(info, Settings(gpu_prices=said), None, Book.load())
    assert pricing.usd_per_gpu_hour == usd


PER_RUN = """\
budget_usd = 40
[alerts.budget]
critical = 0.8
[runs."gsm8k-*"]
budget_usd = 9
[runs."gsm8k-*".alerts.budget]
critical = 0.95
"""


@pytest.mark.parametrize(
    ("target", "budget", "critical"),
    [
        ("runs/gsm8k-4b", 9, 0.95),
        ("runs/gsm8k-4b/train.log", 9, 0.95),
        ("gsm8k-4b.log", 9, 0.95),
        ("runs/math-4b", 40, 0.8),
        (None, 40, 0.8),
    ],
)
def test_what_is_said_of_some_runs_holds_for_those_alone(
    tmp_path: Path, target: str | None, budget: float, critical: float
) -> None:
    told = load((write(tmp_path / "x.toml", PER_RUN),), target)
    assert told["budget_usd"] == budget
    assert told["alerts"] == {"budget": {"critical": critical}}
    assert Settings.model_validate(told).runs == {}


def test_every_setting_knows_the_line_that_it_is_from(tmp_path: Path) -> None:
    below = write(tmp_path / "user.toml", "[alerts]\nnan.enabled = false\n[alerts.budget]\nwarn = 0.4\n")
    above = write(tmp_path / "project.toml", PER_RUN)
    found = origins((below, above), "gsm8k-1")
    assert found["alerts", "nan", "enabled"] == f"{below}, line 2"
    assert found["alerts", "budget", "warn"] == f"{below}, line 4"
    assert found["alerts", "budget", "critical"] == f"{above}, line 7"
    assert origins((below, above), "math-1")["alerts", "budget", "critical"] == f"{above}, line 3"


@pytest.mark.skipif(os.name != "posix", reason="only there do files have such permissions")
@pytest.mark.parametrize(
    ("url", "mode", "fine"),
    [
        ("slack://Sesame", 0o644, False),
        ("slack://Sesame", 0o640, False),
        ("slack://Sesame", 0o600, True),
        ("$SLACK_URL", 0o644, True),
        ("mailto://me:${RLTOP_MAIL}@x.org", 0o644, True),
    ],
)
@pytest.mark.parametrize("table", ["[notify]", '[runs."a*".notify]'])
def test_a_file_with_an_address_in_it_must_be_the_users_alone(
    tmp_path: Path, table: str, url: str, mode: int, fine: bool
) -> None:
    path = write(tmp_path / "x.toml", f'{table}\nurls = ["{url}"]\n')
    path.chmod(mode)
    if fine:
        assert load((path,), "abc")["notify"] == {"urls": [url]} if "runs" in table else True
        return
    with pytest.raises(SettingsError, match="chmod 600") as caught:
        load((path,))
    assert "Sesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[notify]\nurl = "slack://Sesame"\n', "line 2: notify.url: unknown setting; known are urls"),
        ('[notify]\nterminal = ["gong"]\n', "line 2: notify.terminal.0"),
        ("[notify]\nurls = [3]\n", "line 2: notify.urls.0"),
        ('[notify]\nseverity = "bad"\n', "line 2: notify.severity"),
    ],
)
def test_a_wrong_word_about_notifications_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        load((write(tmp_path / "x.toml", text),))
    assert "Sesame" not in str(caught.value)
