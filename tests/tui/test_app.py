"""What a user reads and does, at the sizes that terminals have."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.drivers.headless_driver import HeadlessDriver
from textual.widgets import Input

from rltop.models.alert import Watch
from rltop.models.event import LogLine, SourceStatus
from rltop.models.money import Bill
from rltop.models.settings import Settings
from rltop.monitor.frame import Frame
from rltop.tui import bindings
from rltop.tui.app import RltopApp
from rltop.tui.screens.help import HelpScreen
from rltop.tui.screens.metrics import MetricsScreen
from rltop.tui.themes import THEMES
from rltop.tui.widgets.cost import Cost

from . import frames
from .runners import Failing, Frames, Keyboard, screen_lines, until

SIZES = [(80, 24), (120, 40), (200, 50)]
EVERY_SIZE = [
    (20, 5),
    (40, 10),
    (60, 15),
    (79, 23),
    (80, 24),
    (99, 30),
    (100, 36),
    (120, 40),
    (159, 24),
    (300, 80),
]
EVERY_FRAME = ["verl", "tinker", "empty", "unpriced", "with_alerts", "with_gpus", "replayed", "crashed"]


def frame_named(name: str) -> Frame:
    return getattr(frames, name)()


async def read(frame: Frame, size: tuple[int, int], *keys: str) -> list[str]:
    app = RltopApp(Frames(frame))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()
        return screen_lines(app)


@pytest.mark.parametrize("size", SIZES)
async def test_the_questions_that_matter_are_answered_at_every_size(size: tuple[int, int]) -> None:
    text = "\n".join(await read(frames.verl(), size))
    for answer in (
        "● running",
        "step 35/94",
        "$53.04 so far",
        "$242 at the end",
        "80 %: $115 – $325",
        "budget $150",
        "▲ over budget 87 %",
        "breaks at step 68",
        "at the cap $310",
        "ends in 3h 51m ±52m",
        "1 376 tok",
        "at the end 1 950",
        "clip 44 % ✖",
        "reward 0.790",
        "update 141 s",
        "✖ 44 % of responses are cut at 2 048 tokens",
        "since 33",
        "raise the cap or add a length term",
    ):
        assert answer in text, answer


@pytest.mark.parametrize("name", EVERY_FRAME)
async def test_every_frame_fits_every_size(name: str) -> None:
    app = RltopApp(Frames(frame_named(name)))
    async with app.run_test(size=(80, 24)) as pilot:
        for width, height in EVERY_SIZE:
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            lines = screen_lines(app)
            assert (len(lines), {cell_len(line) for line in lines}) == (height, {width})
            assert not {"nan", "None", "inf"} & set("\n".join(lines).split())


async def test_eighty_by_twenty_four_cuts_nothing_of_the_overview() -> None:
    lines = await read(frames.verl(), (80, 24))
    assert "…" not in "\n".join(lines)
    assert "cap 2 048" in "\n".join(lines)
    assert lines[-1].startswith(" 1 overview  2 cost  3 length  4 health  5 metrics")
    assert lines[-1].rstrip().endswith("? help")


async def test_a_hundred_and_twenty_columns_have_two_charts_a_table_and_the_gpus() -> None:
    lines = await read(frames.with_gpus(), (120, 40))
    titles = next(line for line in lines if "DOLLARS" in line)
    assert "LENGTH" in titles
    table = next(index for index, line in enumerate(lines) if "STEP" in line)
    assert "GPU" in lines[table]
    assert "$ so far" in lines[table]
    assert lines[table + 1].split()[:2] == ["35", "228"]


async def test_two_hundred_columns_have_a_third_column() -> None:
    text = "\n".join(await read(frames.verl(), (200, 50)))
    assert all(title in text for title in ("REWARD", "KL", "ENTROPY", "GRAD NORM"))


async def test_below_eighty_columns_status_and_cost_remain() -> None:
    text = "\n".join(await read(frames.verl(), (40, 8)))
    assert "running" in text
    assert "$53.04 → $242" in text


async def test_the_gpu_panel_takes_no_room_when_there_are_no_gpus() -> None:
    assert not any("GPU   " in line for line in await read(frames.tinker(), (120, 40)))


async def test_a_driver_that_does_not_answer_is_said_beside_its_last_figures() -> None:
    for count in (8, 64):
        stale = frames.with_gpus(count, note="stale 12 s: the NVIDIA driver does not answer")
        assert any("▲ stale 12 s" in line for line in await read(stale, (120, 40)))


async def test_the_gpus_of_this_machine_are_not_shown_beside_a_run_on_tinker() -> None:
    gpus = frames.with_gpus().state.gpus
    tinker = frames.tinker()
    here = replace(tinker, state=replace(tinker.state, gpus=gpus))
    assert not any("GPU   " in line for line in await read(here, (120, 40)))


async def test_many_gpus_are_one_line() -> None:
    text = "\n".join(await read(frames.with_gpus(64), (120, 40)))
    assert "64×B200" in text
    assert "busy" in text


async def test_what_is_unknown_is_a_dash_and_says_how_to_give_it() -> None:
    text = "\n".join(await read(frames.unpriced(), (80, 24)))
    assert "– unpriced" in text
    assert "give --model or --price" in text
    assert "--total-steps N" in text
    assert "MFU –" in text
    assert "$0" not in text


async def test_a_log_that_is_not_there_yet_is_waited_for_in_words() -> None:
    text = "\n".join(await read(frames.empty(), (80, 24)))
    assert "waiting for metrics.jsonl …" in text
    assert "runs/gsm8k/metrics.jsonl" in text


async def test_the_screen_fills_with_the_first_step_and_follows_the_next() -> None:
    app = RltopApp(Frames(frames.empty()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, "waiting for metrics.jsonl")
        app.publish(frames.tinker())
        text = await until(pilot, app, "$8.76 so far")
    assert "waiting for" not in text


async def test_of_many_frames_the_latest_is_drawn_and_the_rest_are_skipped() -> None:
    shown: list[Frame] = []
    app = RltopApp(Frames(*(frames.tinker(done) for done in range(2, 41)), frames.tinker(41)))
    async with app.run_test(size=(80, 24)) as pilot:
        app.watch(app, "frame", lambda frame: shown.append(frame), init=False)
        await until(pilot, app, "step 41/59")
    assert len(shown) <= 2


async def test_a_frame_that_looks_the_same_draws_nothing() -> None:
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        cost = app.screen.query_one(Cost)
        refreshed: list[object] = []
        cost.refresh = lambda *regions, **_: refreshed.append(regions)  # type: ignore[method-assign]
        cost.show(replace(frames.verl()))
        assert refreshed == []


async def test_only_the_cells_that_changed_are_drawn() -> None:
    frame = frames.verl()
    app = RltopApp(Frames(frame))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        cost = app.screen.query_one(Cost)
        regions: list[object] = []
        cost.refresh = lambda *changed, **_: regions.extend(changed)  # type: ignore[method-assign]
        cost.show(replace(frame, bill=frame.bill.model_copy(update={"spent_usd": 53.09})))
        assert len(regions) == 1
        assert getattr(regions[0], "width") <= 2  # noqa: B009


async def test_a_resized_screen_is_the_one_that_would_have_been_drawn() -> None:
    fresh = {size: await read(frames.with_gpus(), size) for size in SIZES}
    app = RltopApp(Frames(frames.with_gpus()))
    async with app.run_test(size=SIZES[0]) as pilot:
        await until(pilot, app, "COST")
        for size in (SIZES[2], SIZES[0], SIZES[1], SIZES[2], SIZES[1], SIZES[0]):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert screen_lines(app) == fresh[size]


async def test_a_runner_that_fails_is_one_line_and_the_figures_stay() -> None:
    app = RltopApp(Failing(frames.tinker()))
    async with app.run_test(size=(80, 24)) as pilot:
        text = await until(pilot, app, "✖ reading has stopped: the disk went away")
    assert "nobody wants" not in text
    assert "$8.76 so far" in text


async def test_q_leaves_and_cancels_the_runner() -> None:
    runner = Frames(frames.tinker())
    app = RltopApp(runner)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("q")
    assert runner.cancelled
    assert app.return_code == 0


async def test_ctrl_c_leaves_from_a_list_and_from_a_filter() -> None:
    for keys in ((), ("5",), ("5", "slash", "a")):
        app = RltopApp(Frames(frames.tinker()))
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press(*keys)
            await pilot.press("ctrl+c")
            await pilot.pause()
            assert not app.is_running, keys
        assert app.return_code == 0


async def test_question_mark_shows_the_keys_that_work_here_and_puts_them_away() -> None:
    app = RltopApp(Frames(frames.tinker()))
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.press("question_mark")
        text = await until(pilot, app, "alerts, and notes on the figures")
        assert "next alert" not in text
        await pilot.press("question_mark")
        await pilot.pause()
        assert not isinstance(app.screen, HelpScreen)


async def test_help_on_a_replay_has_the_keys_of_the_replay() -> None:
    app = RltopApp(Frames(frames.replayed(), control=Keyboard()))
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.press("question_mark")
        await until(pilot, app, "next alert")


async def test_eight_shows_the_lines_of_the_log_with_the_newest_last() -> None:
    logs = (
        LogLine(text="checkpoint saved", at=frames.NOW),
        LogLine(text="CUDA out of memory", level="error", topic="oom"),
    )
    frame = frames.verl()
    app = RltopApp(Frames(replace(frame, state=replace(frame.state, logs=logs))))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("8")
        text = await until(pilot, app, "LOG  2", "✖ CUDA out of memory", "· checkpoint saved")
    assert text.index("checkpoint") < text.index("CUDA")


async def test_a_crash_says_why_and_projects_no_end() -> None:
    text = "\n".join(await read(frames.crashed(), (80, 24)))
    assert "✖ crashed" in text
    assert "✖ the cluster shut down" in text
    assert "$242 had it gone on" in text
    assert "ends in" not in text


async def test_a_run_that_stands_still_ends_at_no_time_but_has_so_much_to_go() -> None:
    text = "\n".join(await read(replace(frames.verl(), status="stalled"), (80, 24)))
    assert "to go 3h 51m ±52m" in text
    assert "ends in" not in text


async def test_a_finished_run_has_one_price() -> None:
    text = "\n".join(await read(replace(frames.tinker(59), status="finished"), (80, 24)))
    assert "$12.6" in text
    assert "in all" in text
    assert "at the end" not in text
    assert "at the cap" not in text


async def test_a_finished_run_says_whether_it_kept_to_its_budget() -> None:
    finished = replace(frames.tinker(59), status="finished")
    for budget, verdict in ((20.0, "✓ within budget"), (10.0, "✖ over budget by $2.6")):
        frame = replace(finished, settings=Settings(budget_usd=budget))
        assert verdict in "\n".join(await read(frame, (80, 24)))


async def test_where_there_are_no_dollars_the_length_has_their_place() -> None:
    frame = frames.verl(budget=None)
    text = "\n".join(await read(replace(frame, bill=Bill()), (80, 24)))
    assert "cap 2 048 ┄" in text
    assert "no price for this run" in text


async def test_unreadable_lines_are_counted_on_screen() -> None:
    frame = frames.verl()
    status = SourceStatus(
        source="console", path="a/train.log", lines=5210, bad_lines=3, first_bad="line 12: not UTF-8"
    )
    state = replace(frame.state, sources={("console", "a/train.log"): status})
    text = "\n".join(await read(replace(frame, state=state), (120, 40)))
    assert "▲ train.log: 3 of 5 210 lines unreadable (line 12: not UTF-8)" in text


async def test_each_replay_key_does_what_it_says() -> None:
    keyboard = Keyboard()
    app = RltopApp(Frames(frames.replayed(), control=keyboard))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("space", "right", "left", "n", "N", "plus", "minus", "home", "end")
    assert keyboard.asked == [
        "pause",
        "step 1",
        "step -1",
        "alert 1",
        "alert -1",
        "faster",
        "slower",
        "seek 0.00",
        "seek 1.00",
    ]


async def test_replay_keys_do_nothing_while_live() -> None:
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("space", "right", "n", "plus")
        assert app.is_running


async def test_a_click_on_the_scrub_bar_goes_to_that_place() -> None:
    keyboard = Keyboard()
    app = RltopApp(Frames(frames.replayed(), control=keyboard))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        bar = next(line for line in screen_lines(app) if "├" in line and "▶" in line)
        await pilot.click("#replay", offset=(bar.index("┤") - 2, 0))
    assert keyboard.asked == ["seek 1.00"]


async def test_the_replay_bar_says_where_how_fast_and_what_was_met() -> None:
    lines = await read(frames.replayed(), (120, 40))
    bar = next(line for line in lines if "▶ 60×" in line)
    assert "step 35/94" in bar
    assert bar.index("▲") < bar.index("✖") < bar.index("●")
    paused = await read(frames.replayed(paused=True), (120, 40))
    assert any("⏸ paused" in line for line in paused)


async def test_seven_shows_all_alerts_in_full_and_escape_goes_back() -> None:
    app = RltopApp(Frames(frames.with_alerts(12)))
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.press("7")
        await until(pilot, app, *(f"finding {number} " for number in range(12)))
        await pilot.press("escape")
        await until(pilot, app, "COST")


async def test_a_key_on_the_bottom_line_can_be_clicked() -> None:
    app = RltopApp(Frames(frames.with_alerts(12)))
    async with app.run_test(size=(80, 24)) as pilot:
        text = await until(pilot, app, "COST")
        await pilot.click("#keys", offset=(text.splitlines()[-1].index("alerts"), 0))
        await until(pilot, app, "ACTIVE")


async def test_what_rings_the_terminal_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def write(driver: HeadlessDriver, data: str) -> None:
        written.append(data)

    monkeypatch.setattr(HeadlessDriver, "write", write)
    ringing = replace(frames.verl(), call="\x07\x1b]9;rltop: nan\x07")
    app = RltopApp(Frames(frames.verl(), ringing, frames.verl()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
    assert [data for data in written if "nan" in data] == [ringing.call]


async def test_the_alerts_screen_ends_with_what_is_watched_and_what_is_not() -> None:
    watched = (
        Watch(rule="nan", watched=True),
        Watch(rule="gpu_idle", watched=False, why="no GPU readings"),
        Watch(rule="stall", watched=True),
    )
    app = RltopApp(Frames(replace(frames.verl(), watched=watched)))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("7")
        lines = (await until(pilot, app, "NOT WATCHED  1")).splitlines()
    (at,) = (n for n, line in enumerate(lines) if line.strip().startswith("WATCHED  2"))
    assert lines[at + 1].strip() == "nan, stall"
    assert lines[at + 4].split(maxsplit=1)[0] == "gpu_idle"
    assert "no GPU readings" in lines[at + 4]


async def test_the_overview_says_how_many_alerts_it_could_not_show() -> None:
    text = "\n".join(await read(frames.with_alerts(12), (80, 24)))
    assert "+8 more: key 7" in text


async def test_the_metrics_can_be_filtered_by_words() -> None:
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5")
        await until(pilot, app, "METRICS")
        await pilot.press("slash", *"len mean")
        text = await until(pilot, app, "1 of 7", "response_length/mean")
        assert "actor/entropy" not in text
        await pilot.press("enter")
        await pilot.pause()
        assert not isinstance(app.focused, Input)
        assert isinstance(app.screen, MetricsScreen)


async def test_a_screen_opened_later_follows_the_run_too() -> None:
    app = RltopApp(Frames(frames.tinker(3)))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5")
        await until(pilot, app, "METRICS", "step 3/59")
        app.publish(frames.tinker(41))
        await until(pilot, app, "METRICS", "step 41/59")


async def test_every_command_is_in_the_palette() -> None:
    app = RltopApp(Frames(frames.replayed(), control=Keyboard()))
    async with app.run_test(size=(80, 24)):
        titles = {command.title.casefold() for command in app.get_system_commands(app.screen)}
    for binding in (*bindings.SCREENS, *bindings.REPLAY):
        assert any(binding.description.casefold() in title for title in titles), binding.description


def test_every_binding_has_an_id_of_its_own() -> None:
    ids = [binding.id for binding in bindings.ALL]
    assert None not in ids
    assert len(set(ids)) == len(ids)


async def test_every_theme_can_be_worn() -> None:
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "COST")
        as_drawn = screen_lines(app)
        for theme in [*(theme.name for theme in THEMES), "nord", "textual-light", "ansi-dark"]:
            app.theme = theme
            await pilot.pause()
            assert screen_lines(app) == as_drawn, theme


async def test_without_colour_signs_and_words_still_tell() -> None:
    app = RltopApp(Frames(frames.verl()))
    app.no_color = True
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        text = "\n".join(screen_lines(app))
    assert "░" in text
    assert "● running" in text


async def test_ascii_only_means_ascii_only() -> None:
    app = RltopApp(Frames(frames.with_gpus()), ascii_only=True)
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.pause()
        for key, title in (("1", "COST"), ("5", "METRICS"), ("7", "ACTIVE")):
            await pilot.press(key)
            assert (await until(pilot, app, title)).isascii(), key


async def test_nothing_of_a_log_can_write_to_the_terminal() -> None:
    frame = frames.verl()
    info = frame.info.model_copy(update={"name": "bad\x1b[2Jname\nwith lines", "model": "x/y\x07z"})
    text = "\n".join(await read(replace(frame, info=info), (120, 40)))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "badname with lines" in text


async def test_a_key_that_the_user_chose_works_and_is_shown_wherever_keys_are() -> None:
    app = RltopApp(Frames(frames.verl()))
    app.set_keymap({"view.cost": "c,f2", "app.help": "h", "gpus.metric": "k"})
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "c cost", "h help")
        await pilot.press("h")
        await until(pilot, app, "c        cost: the bill")
        await pilot.press("escape")
        await pilot.press("c")
        await until(pilot, app, "WHAT IF")
        await pilot.press("6")
        await until(pilot, app, "k metric")


async def test_a_value_under_the_crosshair_is_copied_and_without_one_the_run_in_a_line() -> None:
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, app, "COST")
        await pilot.press("y")
        await until(pilot, app, "copied: step 35/94")
        assert app.clipboard.startswith("step 35/94  $53.04 so far  $242 at the end")
        await pilot.press("4", "left_square_bracket", "left_square_bracket", "y")
        await until(pilot, app, "copied: step 34  0.79")
        assert app.clipboard.startswith("step 34  0.79")


async def test_a_picture_and_a_report_are_saved_beside_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, app, "COST")
        await pilot.press("s", "s", "S")
        await until(pilot, app, "saved rltop-math-4b-grpo-step35.html")
    saved = sorted(os.listdir(tmp_path))
    assert saved == [
        "rltop-math-4b-grpo-step35-overview-2.svg",
        "rltop-math-4b-grpo-step35-overview.svg",
        "rltop-math-4b-grpo-step35.html",
    ]
    assert "math-4b-grpo" in (tmp_path / saved[0]).read_text()


async def test_what_cannot_be_saved_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, app, "COST")
        await pilot.press("s")
        await until(pilot, app, "not saved: No such file or directory")


async def test_a_user_changes_the_theme_by_name_in_the_palette() -> None:
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "COST")
        await pilot.press("ctrl+p", *"theme")
        await until(pilot, app, "Change the current theme")
        await pilot.press("enter")
        await until(pilot, app, "textual-dark", "rltop-light")
        await pilot.press(*"rltop-li")
        await pilot.pause(0.3)
        await pilot.press("enter")
        await until(pilot, app, "COST")
        for _ in range(100):
            if app.theme == "rltop-light":
                return
            await pilot.pause(0.05)
        raise AssertionError(f"the theme is {app.theme}")
