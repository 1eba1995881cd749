"""What the screens over the overview tell, of the built-in runs and of hand-made ones."""

import pytest

from rltop.monitor.frame import Frame
from rltop.tui.app import RltopApp

from . import demos, frames
from .runners import Frames, screen_lines, until


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


@pytest.mark.parametrize("screen", ["2", "3", "4", "9"])
@pytest.mark.parametrize("name", ["verl", "tinker", "unpriced", "crashed", "empty"])
async def test_a_screen_fits_any_frame_and_size(name: str, screen: str) -> None:
    frame: Frame = getattr(frames, name)()
    app = RltopApp(Frames(frame))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press(screen)
        for size in ((40, 10), (80, 24), (120, 40), (200, 50)):
            await pilot.resize_terminal(*size)
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
        await pilot.press("p", "down", "p")
        await pilot.pause()
        assert "◆" not in "\n".join(screen_lines(app))


async def test_a_chart_of_a_key_goes_logarithmic_smooth_and_over_dollars() -> None:
    keys = ("5", "slash", *"kl_loss", "enter", "enter", "l", "s", "x", "x", "x")
    text = await read(demos.at_step("math-verl", 35), (120, 40), *keys)
    assert "log  smooth 0.6" in text
    assert "x by dollars" in text
    assert "$40" in text
