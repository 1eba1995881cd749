"""When the clip ratio is to be believed."""

import math
from collections.abc import Callable

import pytest

from rltop.monitor.sources.verl.cliptrust import Clip, clip_of
from rltop.monitor.state import RunState

Fold = Callable[..., RunState]


def values(ratio: float, longest: float, **more: float) -> dict[str, float]:
    return {"response_length/clip_ratio": ratio, "response_length/max": longest, **more}


def test_a_ratio_counts_when_a_response_reached_the_cap() -> None:
    clip = clip_of(values(0.25, 1024), "0.9", 1024)
    assert (clip.ratio, clip.reliable) == (0.25, True)


def test_09_counts_the_longest_rows_so_that_nothing_was_cut_below_the_cap() -> None:
    clip = clip_of(values(0.0078125, 900), "0.9", 1024)
    assert (clip.ratio, clip.reliable) == (0.0, True)
    assert "900" not in (clip.why or "")
    assert "1024" in (clip.why or "")


def test_without_a_cap_09_tells_nothing() -> None:
    assert clip_of(values(0.0078125, 900), "0.9", None).reliable is False


def test_a_context_that_ends_before_the_cap_hides_what_it_cuts() -> None:
    clip = clip_of(values(0.0, 900), "0.6-0.7.0", 2048, prompt_cap=512, model_len=1500)
    assert clip.reliable is False
    assert "1500" in (clip.why or "")


def test_a_context_with_room_for_prompt_and_cap_hides_nothing() -> None:
    clip = clip_of(values(0.0, 900), "0.6-0.7.0", 2048, prompt_cap=512, model_len=2560)
    assert (clip.ratio, clip.reliable) == (0.0, True)


def test_up_to_08_a_clipped_row_gives_the_cap_away() -> None:
    clip = clip_of(values(0.25, 2048), "<=0.4.1", None)
    assert (clip.ratio, clip.reliable, clip.cap) == (0.25, True, 2048)


@pytest.mark.parametrize("version", ["0.9", "0.7.1-0.8", None])
def test_no_cap_is_inferred_where_rows_may_be_padded_to_the_longest(version: str | None) -> None:
    assert clip_of(values(0.25, 2048), version, None).cap is None


def test_marks_of_the_old_trainer_tell_that_rows_are_padded_to_the_cap() -> None:
    marked = values(0.25, 2048, **{"timing_s/agent_loop/tool_calls/max": 0.5})
    assert clip_of(marked, "0.7.1-0.8", None).cap == 2048


def test_no_ratio_is_no_claim() -> None:
    assert clip_of({"response_length/max": 10.0}, "<=0.2", 256) == Clip()


def test_a_known_cap_makes_the_ratio_of_a_run_reliable(fold: Fold) -> None:
    state = fold(
        "(TaskRunner pid=1) {'actor_rollout_ref': {'rollout': {'n': 4}},\n"
        "(TaskRunner pid=1)  'data': {'max_response_length': 512}}\n"
        "(TaskRunner pid=1) step:1 - response_length/mean:90.5 - response_length/max:512.0 - "
        "response_length/clip_ratio:0.125 - timing_s/step:9.5\n"
    )
    assert (state.history.get("clip_ratio", 0), state.clip_reliable) == (0.125, True)


def test_a_cap_that_was_inferred_is_said_to_be(fold: Fold) -> None:
    state = fold(
        "step:1 - actor/pg_loss:0.100 - response_length/mean:90.500 - response_length/max:512.000 - "
        "response_length/clip_ratio:0.125 - timing_s/step:9.500\n"
    )
    assert state.info.max_tokens == 512
    assert any("cap of 512" in note for note in state.info.notes)


@pytest.mark.parametrize("longest", [math.nan, math.inf])
def test_a_longest_response_that_is_no_number_proves_nothing(longest: float) -> None:
    assert clip_of(values(0.5, longest), "0.4", None) == Clip()
