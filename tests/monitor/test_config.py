"""rltop.toml: merged, checked, and named when it is wrong."""

from pathlib import Path

import pytest

from rltop.models.run import RunInfo
from rltop.models.settings import Settings, SettingsError
from rltop.monitor.config import load
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
        ("[gpu_prices]\nB200 = []\n", r"x\.toml, line 2: gpu_prices\.B200: .*number"),
        ("budget_usd = \n", r"x\.toml: not TOML: .*line 1"),
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
