"""What the screens over the overview tell, of the built-in runs and of hand-made ones."""

from dataclasses import replace

import pytest

from rltop.models.event import Ended, LogLine
from rltop.monitor.frame import Frame
from rltop.tui.app import RltopApp

from . import demos, frames
from .runners import Frames, Keyboard, screen_lines, until


async def read(frame: Frame, size: tuple[int, int], *keys: str) -> str:
    app = RltopApp(Frames(frame))
    async with app.run_test(size=size) as pilot:
        await until(pilot, app, frame.info.name or "")
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await pilot.pause()
        return "\n".join(screen_lines(app))


def words_of(text: str, line_with: str) -> list[str]:
    return next(line for line in text.splitlines() if line_with in line).split()


async def test_the_bill_of_a_token_run_is_amount_times_price() -> None:
    text = await read(demos.at_step("gsm8k-tinker", 41), (120, 40), "2")
    assert words_of(text, "sample  ")[:7] == ["sample", "13.9M", "tok", "×", "$0.22/M", "$3.06", "33"]
    assert "prices of 2026-01-05" in text


async def test_the_bill_of_a_self_hosted_run_is_hours_times_price_and_its_phases_add_up() -> None:
    frame = demos.at_step("math-verl", 35)
    text = await read(frame, (120, 40), "2")
    assert words_of(text, "GPU   ")[:6] == ["GPU", "9.34", "h", "×", "$4.98/h", "$46.54"]
    assert "PHASES" in text
    assert sum(phase.usd or 0 for phase in frame.bill.phases) == pytest.approx(frame.bill.spent_usd)


async def test_the_what_ifs_are_those_of_the_live_run() -> None:
    frame = demos.at_step("math-verl", 35)
    text = await read(frame, (120, 40), "2")
    assert frame.whatifs()
    for one in frame.whatifs():
        assert one.label[:30] in text


async def test_the_forecasts_are_kept_with_their_interval() -> None:
    frame = demos.at_step("math-verl", 35)
    last = frame.projection.final_usd
    assert last is not None
    kept = (frame.at_end_low[-1], frame.at_end[-1], frame.at_end_high[-1])
    assert kept == pytest.approx((last.p10, last.p50, last.p90), rel=0.05)
    assert len(frame.at_end_low) == len(frame.at_end) == len(frame.at_end_high) == frame.state.closed


async def test_the_lengths_are_told_with_their_cap_and_spread() -> None:
    text = await read(demos.at_step("math-verl", 35), (120, 40), "3")
    assert words_of(text, "mean response")[2:6] == ["1", "376", "549", "1"]
    assert "cap 2 048" in text
    assert "mean at 67 % of it" in text
    assert "response_length/min" in text


async def test_a_run_whose_evaluations_tell_no_length_has_no_chart_of_them() -> None:
    assert "IN EVALUATIONS" not in await read(demos.at_step("math-verl", 35), (120, 40), "3")


async def test_the_health_is_told_with_the_steps_of_its_extremes() -> None:
    text = await read(demos.at_step("math-verl", 35), (120, 40), "4")
    assert words_of(text, "reward     ")[:6] == ["reward", "0.801", "0.620", "0.620", "1", "0.804"]
    assert "eval score" in text


async def test_every_fact_says_who_knows_it() -> None:
    text = await read(demos.at_step("math-verl", 35), (120, 40), "9")
    assert words_of(text, "GPU type")[2:4] == ["you", "B200"]
    assert words_of(text, "rollouts a prompt")[3:] == ["log", "8"]
    assert "actor_rollout_ref.actor.optim.lr" in text


async def test_the_facts_are_filtered_by_words_of_name_or_value() -> None:
    text = await read(demos.at_step("math-verl", 35), (120, 40), "9", "slash", *"lora 32", "enter")
    assert "LoRA rank" in text
    assert "framework" not in text


@pytest.mark.parametrize("screen", ["2", "3", "4", "5", "8", "9"])
async def test_a_screen_fits_any_frame_and_size(screen: str) -> None:
    app = RltopApp(Frames(frames.empty()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press(screen)
        for size in ((40, 10), (120, 40)):
            await pilot.resize_terminal(*size)
            for frame in (frames.empty(), frames.unpriced()):
                app.frame = frame
                await pilot.pause()
                lines = screen_lines(app)
                assert len(lines) == size[1]
                assert not {"nan", "None", "inf"} & set("\n".join(lines).split())


async def test_the_crosshair_tells_one_step_on_every_chart() -> None:
    text = await read(demos.at_step("math-verl", 35), (120, 40), "4", *["left_square_bracket"] * 3)
    assert text.count("step 33") == 6
    assert text.count("◆") == 6


async def test_zooming_a_chart_zooms_all_and_escape_takes_it_back() -> None:
    frame = demos.at_step("math-verl", 35)
    zoomed = await read(frame, (120, 40), "4", *["left_square_bracket"] * 10, "z", "z")
    axis = next(line for line in zoomed.splitlines() if " 35" in line and " 20 " in line)
    assert "94" not in axis
    back = await read(frame, (120, 40), "4", *["left_square_bracket"] * 10, "z", "z", "escape")
    assert back == await read(frame, (120, 40), "4")


async def test_one_chart_alone_fills_the_screen_between_status_and_keys() -> None:
    text = await read(demos.at_step("math-verl", 35), (120, 40), "4", "f")
    assert "REWARD" in text
    assert "ENTROPY" not in text
    assert "step 35/94" in text
    assert "? help" in text


async def test_the_mouse_moves_the_crosshair_and_leaves_none_behind() -> None:
    app = RltopApp(Frames(demos.at_step("math-verl", 35)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "math-verl")
        await pilot.press("4")
        await until(pilot, app, "ENTROPY")
        await pilot.hover("#entropy-chart", offset=(20, 5))
        await pilot.pause()
        assert "\n".join(screen_lines(app)).count("◆") >= 5
        await pilot.hover("#status", offset=(1, 0))
        await pilot.pause()
        assert "◆" not in "\n".join(screen_lines(app))


async def test_a_key_of_the_log_is_found_charted_and_pinned() -> None:
    frame = demos.at_step("math-verl", 35)
    text = await read(frame, (120, 40), "5", "slash", *"rwmean", "enter", "enter")
    assert "critic/rewards/mean  0.801381" in text
    app = RltopApp(Frames(frame))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "math-verl")
        await pilot.press("5", "p", "down", "p", "escape", "5")
        await until(pilot, app, "◆ actor/entropy", "◆ actor/grad_norm")
        await pilot.press("p", "up", "p")
        await pilot.pause()
        assert "◆" not in "\n".join(screen_lines(app))


async def test_a_chart_of_a_key_goes_logarithmic_smooth_and_over_dollars() -> None:
    keys = ("5", "slash", *"kl_loss", "enter", "enter", "l", "e", "x", "x", "x")
    text = await read(demos.at_step("math-verl", 35), (120, 40), *keys)
    assert "log  smooth 0.6" in text
    assert "x by dollars" in text
    assert "$40" in text


LOGS = tuple(
    LogLine(
        text=f"line {n} of \x1b[31m{'checkpoint saved' if n % 10 == 0 else 'retry'}\x1b[0m",
        at=1_770_000_000.0 + n,
    )
    for n in range(100)
)


def with_logs() -> Frame:
    frame = frames.verl()
    return replace(frame, state=replace(frame.state, logs=LOGS))


async def test_the_log_follows_its_newest_line_and_shows_no_escapes() -> None:
    text = await read(with_logs(), (80, 24), "8")
    assert "line 99 of retry" in text
    assert "following" in text
    assert "31m" not in text


async def test_scrolled_up_the_log_stays_there_until_it_is_followed_again() -> None:
    app = RltopApp(Frames(with_logs()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, "math-4b")
        await pilot.press("8", "pageup", "pageup")
        await until(pilot, app, "scrolled: f follows", "line 60 of")
        frame = with_logs()
        more = (*LOGS, LogLine(text="the newest"))
        app.publish(replace(frame, state=replace(frame.state, logs=more)))
        await until(pilot, app, "LOG  101", "line 60 of")
        await pilot.press("f")
        await until(pilot, app, "the newest", "following")


async def test_a_search_goes_from_find_to_find() -> None:
    app = RltopApp(Frames(with_logs()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, "math-4b")
        await pilot.press("8", "slash", *"checkpoint", "enter")
        await until(pilot, app, "10 of 10 found", "line 90 of checkpoint")
        await pilot.press("N", "N")
        await until(pilot, app, "8 of 10 found", "line 70 of checkpoint")
        await pilot.press("n")
        await until(pilot, app, "9 of 10 found")


async def test_without_a_search_n_is_the_next_alert_of_the_replay() -> None:
    control = Keyboard()
    app = RltopApp(Frames(frames.replayed(), control=control))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, "math-4b")
        await pilot.press("8", "n")
        await pilot.pause()
        assert control.asked == ["alert 1"]


@pytest.mark.parametrize(
    ("words", "asked"), [("35", "seek step 35"), ("50%", "seek 0.50"), ("step 7", "seek step 7")]
)
async def test_in_a_replay_a_colon_seeks(words: str, asked: str) -> None:
    control = Keyboard()
    app = RltopApp(Frames(frames.replayed(), control=control))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, "math-4b")
        await pilot.press("colon", *words, "enter")
        await pilot.pause()
        assert control.asked == [asked]


async def test_live_a_colon_puts_the_crosshair_there_and_says_what_it_does_not_understand() -> None:
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "math-4b")
        await pilot.press("4", "colon", *"soon", "enter")
        await until(pilot, app, "that is no place")
        await pilot.press(*["backspace"] * 4, *"12", "enter")
        await until(pilot, app, "step 12", "◆")


async def test_a_run_that_crashed_before_its_first_step_is_not_waited_for() -> None:
    none = frames.empty()
    ended = Ended(status="crashed", at=frames.NOW, message="crashed: CUDA out of memory")
    text = await read(replace(none, state=replace(none.state, ended=ended), status="crashed"), (80, 24))
    assert "crashed before its first step" in text
    assert "CUDA out of memory" in text
    assert "waiting for" not in text
    assert "fills by itself" not in text
