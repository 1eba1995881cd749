"""Pictures of every screen. They lie in snapshots/, and the README and the docs show them.

`make snapshots` draws them anew; look at each before it is committed.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_textual_snapshot import normalize_svg  # pyright: ignore[reportMissingTypeStubs]

from rltop.monitor.fleet.frame import FleetFrame
from rltop.monitor.frame import Frame
from rltop.tui.app import RltopApp
from rltop.tui.compareapp import CompareApp
from rltop.tui.themes import DARK, LIGHT

from . import demos, fleets, frames
from .runners import Frames, Keyboard, until
from .test_compare_screen import both as tinker_and_verl
from .test_compare_screen import until as compared

PICTURES = Path(__file__).resolve().parents[2] / "snapshots"


@pytest.fixture
def looks_as_pictured(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, str], None]:
    """Compares a screen with its picture, or draws that anew under --snapshot-update."""

    def compare(name: str, svg: str) -> None:
        drawn, pictured = normalize_svg(svg), PICTURES / f"{name}.svg"
        if request.config.getoption("update_snapshots"):
            pictured.write_text(drawn)
        if not pictured.is_file() or pictured.read_text() != drawn:
            (tmp_path / pictured.name).write_text(drawn)
            pytest.fail(f"{pictured.name} looks otherwise now: see {tmp_path / pictured.name}", pytrace=False)

    return compare


@pytest.fixture(autouse=True)
def one_time_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The replay bar shows the time of day where the user is."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def run_of(kind: str) -> Frame:
    """The frame that a picture shows. The one place to change when pictures are to show other runs."""
    return {
        "verl": lambda: demos.at_step("math-verl", 35),
        "tinker": lambda: demos.at_step("gsm8k-tinker", 41),
        "replay": lambda: demos.replayed_to("math-verl", 33),
        "gpus": frames.with_gpus,
        "evals": frames.with_evals,
        "8 gpus": lambda: frames.with_many_gpus(1),
        "64 gpus": lambda: frames.with_many_gpus(8),
        "512 gpus": lambda: frames.with_many_gpus(64),
        "1024 gpus": lambda: frames.with_many_gpus(128),
        "waiting": frames.empty,
        "logs": frames.with_logs,
        "configured": frames.configured,
    }[kind]()


@pytest.mark.parametrize(
    ("name", "kind", "size", "keys", "on_screen"),
    [
        ("overview-80x24", "verl", (80, 24), (), "COST"),
        ("overview-120x40", "verl", (120, 40), (), "COST"),
        ("overview-200x50", "verl", (200, 50), (), "COST"),
        ("gpus-120x40", "gpus", (120, 40), (), "COST"),
        ("gpus-200x50", "gpus", (200, 50), (), "COST"),
        ("gpus-8-80x24", "gpus", (80, 24), ("6",), "GPUS"),
        ("gpus-64-80x24", "64 gpus", (80, 24), ("6",), "WORST"),
        ("gpus-512-80x24", "512 gpus", (80, 24), ("6",), "WORST"),
        ("gpus-1024-80x24", "1024 gpus", (80, 24), ("6",), "WORST"),
        ("gpus-64-120x40", "64 gpus", (120, 40), ("6",), "WORST"),
        ("gpus-1024-200x50", "1024 gpus", (200, 50), ("6",), "WORST"),
        ("gpus-overview-512-120x40", "512 gpus", (120, 40), (), "COST"),
        ("overview-tinker-80x24", "tinker", (80, 24), (), "COST"),
        ("overview-tinker-120x40", "tinker", (120, 40), (), "COST"),
        ("replay-80x24", "replay", (80, 24), (), "▶ 60×"),
        ("replay-120x40", "replay", (120, 40), (), "▶ 60×"),
        ("replay-200x50", "replay", (200, 50), (), "▶ 60×"),
        ("alerts-80x24", "verl", (80, 24), ("7",), "ACTIVE"),
        ("alerts-200x50", "verl", (200, 50), ("7",), "ACTIVE"),
        ("alerts-120x40", "verl", (120, 40), ("7",), "ACTIVE"),
        ("metrics-80x24", "verl", (80, 24), ("5",), "METRICS"),
        ("metrics-200x50", "verl", (200, 50), ("5",), "METRICS"),
        ("metrics-120x40", "verl", (120, 40), ("5",), "METRICS"),
        ("cost-80x24", "verl", (80, 24), ("2",), "BILL"),
        ("cost-120x40", "verl", (120, 40), ("2",), "BILL"),
        ("cost-200x50", "tinker", (200, 50), ("2",), "BILL"),
        ("length-80x24", "verl", (80, 24), ("3",), "RESPONSES"),
        ("length-120x40", "verl", (120, 40), ("3",), "RESPONSES"),
        ("length-200x50", "verl", (200, 50), ("3",), "RESPONSES"),
        ("health-80x24", "verl", (80, 24), ("4",), "EVAL"),
        ("health-120x40", "verl", (120, 40), ("4",), "EVAL"),
        ("health-200x50", "verl", (200, 50), ("4",), "EVAL"),
        ("health-evals-120x40", "evals", (120, 40), ("4",), "EVAL"),
        (
            "metrics-chart-120x40",
            "verl",
            (120, 40),
            ("5", "enter", "e", "e", *["left_square_bracket"] * 9),
            "◆",
        ),
        ("chart-alone-120x40", "verl", (120, 40), ("f", *["left_square_bracket"] * 9), "◆"),
        ("log-80x24", "logs", (80, 24), ("8",), "LOG"),
        ("log-200x50", "logs", (200, 50), ("8",), "LOG"),
        ("log-120x40", "logs", (120, 40), ("8", "slash", *"retry", "enter"), "found"),
        ("config-80x24", "configured", (80, 24), ("9",), "FACTS"),
        ("config-200x50", "configured", (200, 50), ("9",), "FACTS"),
        ("config-120x40", "configured", (120, 40), ("9",), "FACTS"),
        ("help-80x24", "replay", (80, 24), ("question_mark",), "KEYS"),
        ("help-200x50", "replay", (200, 50), ("question_mark",), "SIGNS"),
        ("help-120x40", "replay", (120, 40), ("question_mark",), "SIGNS"),
        ("waiting-80x24", "waiting", (80, 24), (), "waiting for metrics.jsonl"),
    ],
)
async def test_a_screen_looks_as_pictured(
    looks_as_pictured: Callable[[str, str], None],
    name: str,
    kind: str,
    size: tuple[int, int],
    keys: tuple[str, ...],
    on_screen: str,
) -> None:
    looks_as_pictured(name, await drawn(run_of(kind), size, keys, on_screen))


@pytest.mark.parametrize(
    ("name", "size", "keys"),
    [
        ("compare-80x24", (80, 24), ()),
        ("compare-120x40", (120, 40), ("left_square_bracket", *["left_curly_bracket"] * 5)),
        ("compare-200x50", (200, 50), ("x", "x", "x")),
    ],
)
async def test_a_comparison_looks_as_pictured(
    looks_as_pictured: Callable[[str, str], None], name: str, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    app = CompareApp(tinker_and_verl())
    async with app.run_test(size=size) as pilot:
        await compared(pilot, app, "NOW")
        await pilot.press(*keys)
        await pilot.pause()
        looks_as_pictured(name, app.export_screenshot())


async def test_the_light_theme_looks_as_pictured(looks_as_pictured: Callable[[str, str], None]) -> None:
    looks_as_pictured("light-120x40", await drawn(run_of("verl"), (120, 40), (), "COST", theme=LIGHT.name))


async def test_ascii_looks_as_pictured(looks_as_pictured: Callable[[str, str], None]) -> None:
    looks_as_pictured("ascii-80x24", await drawn(run_of("verl"), (80, 24), (), "COST", ascii_only=True))


@pytest.mark.parametrize(
    ("name", "shown", "size", "keys", "on_screen"),
    [
        ("fleet-80x24", fleets.fleet(), (80, 24), (), "math-4b-grpo"),
        ("fleet-120x40", fleets.fleet(), (120, 40), ("g",), "3 runs"),
        ("fleet-200x50", fleets.fleet((*fleets.ROWS, *fleets.many(60)[7:])), (200, 50), ("c",), "by cost"),
        ("fleet-filtered-120x40", fleets.fleet(), (120, 40), ("slash", *"alert:any cost>20"), "2 of 7"),
        ("fleet-empty-80x24", fleets.fleet((), None), (80, 24), (), "no runs below"),
    ],
)
async def test_many_runs_look_as_pictured(
    looks_as_pictured: Callable[[str, str], None],
    name: str,
    shown: FleetFrame,
    size: tuple[int, int],
    keys: tuple[str, ...],
    on_screen: str,
) -> None:
    app = RltopApp(fleets.Opening(fleets.Fleets(shown)))
    async with app.run_test(size=size) as pilot:
        await until(pilot, app, "runs")
        await pilot.press(*keys)
        await until(pilot, app, on_screen)
        looks_as_pictured(name, app.export_screenshot())


async def drawn(
    frame: Frame,
    size: tuple[int, int],
    keys: tuple[str, ...],
    on_screen: str,
    theme: str = DARK.name,
    ascii_only: bool = False,
) -> str:
    """The screen as SVG, once the words are on it."""
    control = Keyboard() if frame.replay else None
    app = RltopApp(Frames(frame, control=control), theme=theme, ascii_only=ascii_only)
    async with app.run_test(size=size) as pilot:
        await until(pilot, app, frame.info.name or "waiting for")
        await pilot.press(*keys)
        await until(pilot, app, on_screen)
        return app.export_screenshot()
