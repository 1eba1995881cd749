from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import to_json

from rltop.models.event import Ended, Event, Restart
from rltop.models.step import Eval
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Format, Line, Parser, Probe
from rltop.monitor.sources import areal, roll
from rltop.monitor.sources.areal import ArealParser
from rltop.monitor.sources.keymap import keymap_of
from rltop.monitor.sources.roll import RollParser
from rltop.monitor.state import RunState


def events_of(parser: Parser, lines: Iterable[str]) -> list[Event]:
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, 50.0, n))]
    return [*events, *parser.flush()]


def state_of(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


def areal_table(step: int, *rows: str) -> list[str]:
    at = f"\x1b[37m(AReaL)\x1b[0m 20260801-10:0{step}:00.500 StatsLogger INFO:"
    table = [f"│ {row} │" for row in rows]
    return [
        f"{at} Epoch 1/2 Step {step}/9 Train step {step}/18 done.",
        f"{at} Stats (1/1):",
        f"{at} ",
        "╒═══╤═══╤═══╤═══╕",
        *table,
        "╘═══╧═══╧═══╧═══╛",
        f"{at} something else",
    ]


AREAL = [
    "(AReaL) LocalScheduler INFO: LocalScheduler initialized with GPU devices: [0, 1, 2, 3], log: x",
    *areal_table(
        1,
        "ppo_actor/task_reward/avg │  5.0000e-01 │ ppo_actor/n_seqs │ 6.4000e+01",
        "ppo_actor/n_valid_tokens │  6.4000e+03 │ ppo_actor/n_tokens │ 1.2800e+04",
        "timeperf/rollout │  2.0000e+01 │ timeperf/train_step │ 1.0000e+01",
        "ppo_actor/no_eos_ratios/avg │ 1.2500e-01 │ eval-rollout/reward │ 7.5000e-01",
    ),
    *areal_table(2, "grpo_actor/task_reward/avg │ 7.5000e-01 │ note │ words"),
    "(AReaL) 20260801-10:05:00.000 StatsLogger INFO: Training completes! Total time elapsed 300.50.",
]


def roll_row(step: int, **more: object) -> str:
    metrics = {
        "tokens/response_length/mean": 120.5,
        "critic/score/mean": 0.5,
        "actor/pg_loss": 0.25,
        "system/samples": 64,
        **more,
    }
    row = to_json({"step": step, "metrics": metrics}).decode().replace(":", ": ").replace(",", ", ")
    return (
        f"[2026-08-01 10:0{step}:00] [tracking.py (161)] [INFO] [PIPELINE x 0 / 1][PID 7] metrics_tag: {row}"
    )


def test_areal_tables_are_steps() -> None:
    parser = ArealParser()
    events = events_of(parser, AREAL)
    state = state_of(events)
    get = state.history.get
    assert list(state.history.steps) == [1, 2]
    assert (state.info.framework, state.info.total_steps, state.info.gpus) == ("areal", 18, 4)
    assert (get("reward_mean", 0), get("reward_mean", 1)) == (0.5, 0.75)
    assert (get("response_length_mean", 0), get("sampled_tokens", 0), get("total_tokens", 0)) == (
        100,
        6400,
        12800,
    )
    assert (get("duration_s", 0), get("clip_ratio", 0)) == (30, 0.125)
    assert state.history.row(0).phases() == {"generate": 20, "update": 10}
    assert [event.scores for event in events if isinstance(event, Eval)] == [{"eval-rollout/reward": 0.75}]
    assert (get("ended_at", 1) or 0) - (get("ended_at", 0) or 0) == 60
    assert state.clip_reliable is False
    assert [event.status for event in events if isinstance(event, Ended)] == ["finished"]
    assert state.shown_s == 300.5
    assert parser.bad_lines == 1


def test_roll_rows_are_steps_and_times_belong_to_the_step_that_took_them() -> None:
    verifiable = [
        roll_row(0, **{"time/step_generate": 10.0, "time/step_total": 0.0, "val_correct/all/mean": 0.25}),
        roll_row(1, **{"time/step_generate": 12.0, "time/step_total": 30.0}),
        "[2026-08-01 10:09:00] [base.py (1)] [INFO] pipeline complete!",
    ]
    events = events_of(RollParser(), verifiable)
    state = state_of(events)
    assert [state.history.get("duration_s", i) for i in (0, 1)] == [30, None]
    assert [state.history.get("response_length_mean", i) for i in (0, 1)] == [120.5, 120.5]
    assert (state.info.framework, state.info.first_step) == ("roll", 0)
    assert [event.scores for event in events if isinstance(event, Eval)] == [{"val_correct/all/mean": 0.25}]
    assert [event.status for event in events if isinstance(event, Ended)] == ["finished"]
    agentic = [roll_row(0, **{"time/step_rollout": 10.0, "time/step_total": 25.0}), "metrics_tag: {broken"]
    parser = RollParser()
    state = state_of(events_of(parser, agentic))
    assert state.history.get("duration_s", 0) == 25
    assert parser.bad_lines == 1


def test_rolls_keys_are_not_verls_though_both_have_an_actor_and_a_critic() -> None:
    rolls = [
        "tokens/response_length/mean",
        "critic/score/mean",
        "actor/pg_loss",
        "time/step_train",
        "system/tps",
    ]
    verls = ["response_length/mean", "critic/score/mean", "actor/pg_loss", "timing_s/step", "perf/mfu/actor"]
    assert [found and found.framework for found in map(keymap_of, (rolls, verls))] == ["roll", "verl"]


CASES: dict[str, tuple[Format, Callable[[], Parser], list[str]]] = {
    "areal": (areal.FORMAT, ArealParser, AREAL),
    "roll": (roll.FORMAT, RollParser, [roll_row(0), roll_row(1)]),
}


@pytest.mark.parametrize("name", CASES)
def test_each_is_recognised_by_its_own_format_alone(name: str) -> None:
    seen = Probe(path=Path("x"), is_dir=False, head="\n".join(CASES[name][2]))
    assert [other for other, (form, _, _) in CASES.items() if form.score(seen) > 0.8] == [name]
    assert CASES[name][0].score(Probe(path=Path("x"), is_dir=True)) == 0


@pytest.mark.parametrize("name", CASES)
def test_going_back_is_a_restart(name: str) -> None:
    _, make, lines = CASES[name]
    assert len([event for event in events_of(make(), [*lines, *lines]) if isinstance(event, Restart)]) == 1


def test_the_other_runs_are_none_of_these(shared_data: Path) -> None:
    for path in [*shared_data.glob("*/*/*.log")]:
        text = path.read_text(encoding="utf-8", errors="replace")
        seen = Probe(path=path, is_dir=False, head=text[:256_000], tail=text[-64_000:])
        assert {name for name, (form, _, _) in CASES.items() if form.score(seen) > 0} == set(), path


EDIT = st.tuples(st.integers(0, 700), st.text(max_size=3), st.integers(0, 9))


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=60)
@given(edits=st.lists(EDIT, min_size=1, max_size=6))
def test_no_mutated_log_makes_it_raise(name: str, edits: list[tuple[int, str, int]]) -> None:
    _, make, lines = CASES[name]
    text = "\n".join(lines)
    for position, insert, cut in edits:
        text = text[:position] + insert + text[position + cut :]
    events_of(make(), text.split("\n"))
