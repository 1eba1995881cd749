from collections.abc import Iterable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.event import Event
from rltop.models.step import Step
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line, Probe
from rltop.monitor.sources.csv_rows import FORMAT, CsvParser
from rltop.monitor.state import RunState

OWN = "step,mean_reward,loss,note\n0,0.5,nan,warm\n1,0.75,0.25,\n"


def read(text: str) -> tuple[RunState, CsvParser]:
    parser, state = CsvParser(), RunState()
    for number, line in enumerate(text.splitlines(), 1):
        for event in parser.feed(Line(line, None, number)):
            state = reduce(state, event)
    return state, parser


def score(head: str) -> float:
    return FORMAT.score(Probe(path=Path("x.csv"), is_dir=False, head=head))


def test_a_table_of_ones_own_is_read_by_its_names() -> None:
    state, parser = read(OWN)
    assert list(state.history.steps) == [0, 1]
    assert [state.history.get("reward_mean", i) for i in (0, 1)] == [0.5, 0.75]
    assert [state.history.get("loss", i) for i in (0, 1)] == [None, 0.25]
    assert state.history.nonfinite[0]["loss"] != 0.0
    assert "taken by their names: reward_mean = mean_reward" in state.info.notes
    assert parser.bad_lines == 0


def test_a_log_history_as_a_table_is_a_trainers() -> None:
    text = "loss,grad_norm,learning_rate,epoch,step,eval_loss,train_runtime\n"
    text += "0.7,1.0,1e-6,0.1,20,,\n,,,0.1,20,0.5,\n0.6,1.0,1e-6,0.2,40,,\n,,,0.2,40,,60.5\n"
    state, _ = read(text)
    assert state.info.framework == "trl"
    assert (state.steps_done, len(state.history.evals), state.shown_s) == (40, 1, 60.5)


def test_a_table_exported_from_the_site_of_a_tracker_is_read() -> None:
    run = "my - run"
    header = f'"Step","{run} - train/reward","{run} - train/reward__MIN","{run} - train/reward__MAX"'
    state, _ = read(f'{header}\n"1","0.5","0.5","0.5"\n"2","0.75","0.75","0.75"\n')
    assert list(state.history.steps) == [1, 2]
    assert [key for key in state.history.raw if "__M" in key] == []


def test_semicolons_and_tabs_separate_too() -> None:
    for sign in (";", "\t"):
        state, _ = read(OWN.replace(",", sign))
        assert state.history.get("reward_mean", 1) == 0.75


def test_rows_of_other_widths_are_counted() -> None:
    state, parser = read(OWN + "2,0.5\n3,0.5,0.1,\n")
    assert list(state.history.steps) == [0, 1, 3]
    assert (parser.bad_lines, parser.first_bad) == (1, "line 4: not 4 columns")


def test_a_table_is_recognised_by_its_step_and_numbers() -> None:
    assert score(OWN) == 0.18
    assert score("iteration,a,b\n1,2,3\n") == 0.09
    assert score("name,reward\na,0.5\n") == 0
    assert score("step,name\nfold,paper\n") == 0
    assert score("step\n1\n2\n") == 0
    assert score("Step 1, mix the flour\nStep 2, bake\n") == 0


@settings(max_examples=60)
@given(st.lists(st.text(max_size=60), max_size=6))
def test_no_text_makes_it_raise(lines: Iterable[str]) -> None:
    lines = list(lines)
    score("\n".join(lines))
    parser = CsvParser()
    events: list[Event] = [
        event for text in ["step,a", *lines] for event in parser.feed(Line(text.replace("\n", ""), None, 1))
    ]
    assert all(isinstance(event.step, int) for event in events if isinstance(event, Step))
