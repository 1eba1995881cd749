from collections.abc import Iterable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from rltop.models.event import Event, Restart
from rltop.models.step import Step
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line, Probe
from rltop.monitor.sources.jsonl import FORMAT, JsonlParser
from rltop.monitor.state import RunState


def events_of(rows: Iterable[object]) -> list[Event]:
    parser = JsonlParser()
    lines = [row if isinstance(row, str) else to_json(row).decode() for row in rows]
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, n))]
    assert parser.bad_lines == 0, parser.first_bad
    return [*events, *parser.flush()]


def state_of(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


def test_telling_names_are_taken_and_said() -> None:
    rows = [
        {"step": n, "avg_gen_tokens": 400.0, "mean_reward": 0.5, "odd": 7, "max_steps": 90} for n in (1, 2)
    ]
    state = state_of(events_of(rows))
    assert state.info.framework == "unknown"
    assert state.info.first_step == 1
    assert state.info.total_steps == 90
    assert state.history.get("response_length_mean", 1) == 400
    assert state.history.get("reward_mean", 1) == 0.5
    assert state.history.row(1).raw("odd") == 7
    (note,) = state.info.notes
    assert "response_length_mean = avg_gen_tokens" in note
    assert "reward_mean = mean_reward" in note
    assert "odd" not in note


def test_a_step_in_one_row_is_complete_and_one_in_several_waits() -> None:
    one = [
        e.complete for e in events_of([{"step": 1, "loss": 1}, {"step": 2, "loss": 1}]) if isinstance(e, Step)
    ]
    assert one == [True, True]
    rows = [
        {"step": 1, "loss": 1},
        {"step": 1, "reward": 2},
        {"step": 2, "loss": 1},
        {"step": 2, "reward": 3},
    ]
    state = state_of(events_of(rows))
    assert list(state.history.steps) == [1, 2]
    assert state.history.get("reward_mean", 1) == 3


def test_any_usual_step_key_will_do_and_nested_numbers_are_found() -> None:
    for key in ("_step", "global_step", "iteration", "rollout_id"):
        state = state_of(events_of([{key: 3.0, "metrics": {"reward": {"mean": 0.25}}}]))
        assert list(state.history.steps) == [3]
        assert state.history.row(0).raw("metrics/reward/mean") == 0.25


def test_a_time_in_unix_seconds_is_when_the_step_ended() -> None:
    assert state_of(events_of([{"step": 1, "time": 1.7e9, "loss": 1}])).history.get("ended_at", 0) == 1.7e9
    assert state_of(events_of([{"step": 1, "time": 12.5, "loss": 1}])).history.get("ended_at", 0) is None


def test_going_back_is_a_restart() -> None:
    rows = [{"step": n, "loss": 1} for n in (1, 2, 3, 2, 3)]
    events = events_of(rows)
    assert [e.from_step for e in events if isinstance(e, Restart)] == [2]
    assert state_of(events).steps_done == 3


def test_the_keys_of_a_known_framework_are_read_by_its_table() -> None:
    row = {
        "step": 1,
        "response_length/mean": 10,
        "response_length/clip_ratio": 0.5,
        "timing_s/step": 9,
        "timing_s/gen": 4,
    }
    state = state_of(events_of([row]))
    assert state.info.framework == "verl"
    assert state.history.get("duration_s", 0) == 9
    assert state.history.row(0).phases() == {"generate": 4}
    assert state.clip_reliable is False


def test_rows_without_a_step_are_passed_over_and_junk_counted() -> None:
    parser = JsonlParser()
    for n, text in enumerate(['{"config": 1}', '{"step": true}', '{"step": 1}', "", "junk", "[1]"], 1):
        assert list(parser.feed(Line(text, None, n))) == []
    assert parser.bad_lines == 2
    assert parser.first_bad == "line 5: not a JSON object"


def test_infinite_and_huge_numbers_are_survived() -> None:
    text = '{"step": 1, "loss": NaN, "kl": Infinity, "reward": 1' + "0" * 400 + ', "entropy": 0.5}'
    state = state_of(events_of([text]))
    assert state.history.get("loss", 0) is None
    assert state.history.get("reward_mean", 0) is None
    assert state.history.get("entropy", 0) == 0.5


def test_it_is_the_last_resort() -> None:
    def score(head: str) -> float:
        return FORMAT.score(Probe(path=Path("x"), is_dir=False, head=head))

    assert score('{"step": 1, "loss": 1}\n{"step": 2, "lo') == 0.2
    assert score('{"step": 1, "a": 1}\n') == 0.1
    assert score('{"_step": 1, "loss": 1, "_wandb": {"runtime": 5}}') == 0, "the summary of a run"
    assert score('{"a": 1}\n') == 0
    assert score("step 1") == 0
    assert FORMAT.score(Probe(path=Path("x"), is_dir=True)) == 0


def test_the_real_countdown_run(shared_data: Path) -> None:
    (source,) = FORMAT.open(shared_data / "trl" / "countdown-500" / "metrics.jsonl")
    state = state_of([*source.poll(0.0), *source.close()])
    assert list(state.history.steps) == list(range(1, 501))
    assert state.info.total_steps is None
    assert state.info.platform is None
    get = state.history.get
    assert [get("response_length_mean", i) for i in (0, 1, 499)] == [503.55, 414.4, 492.6]
    assert get("response_length_max", 0) == 951
    assert get("clip_ratio", 0) == 0.25
    assert state.clip_reliable is True
    assert get("reward_mean", 0) == 0.93828125
    assert get("sampled_tokens", 0) == 503.55 * 20
    assert get("duration_s", 0) is None
    assert get("zero_variance_groups", 0) == 0.25


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["step", "loss", "time", "max_steps", "a"]), inner, max_size=5)
    ),
    max_leaves=15,
)


@given(st.lists(JSON | st.text(max_size=20), max_size=5))
def test_no_row_makes_it_raise(rows: list[object]) -> None:
    parser = JsonlParser()
    for n, row in enumerate(rows, 1):
        text = row if isinstance(row, str) else to_json(row, inf_nan_mode="constants").decode()
        list(parser.feed(Line(text, None, n)))


def test_a_time_as_text_is_the_rows_time() -> None:
    parser = JsonlParser()
    rows = [
        '{"step": 1, "loss": 0.5, "timestamp": "2026-04-26T03:38:38"}',
        '{"step": 2, "loss": 0.5, "timestamp": "2026-04-26T03:38:48.5"}',
        '{"step": 3, "loss": 0.5, "timestamp": "soon"}',
    ]
    steps = [event for text in rows for event in parser.feed(Line(text, None, 1)) if isinstance(event, Step)]
    first, second, third = (step.ended_at for step in steps)
    assert first is not None
    assert second is not None
    assert second - first == 10.5
    assert third is None
