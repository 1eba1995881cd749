"""Evaluations, in whatever row they come."""

from collections.abc import Callable, Iterable

from rltop.models.event import Event
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from rltop.monitor.sources.tinker.metrics import MetricsParser

Row = dict[str, object]
MakeRow = Callable[..., Row]
Feed = Callable[[MetricsParser, Iterable[Row]], list[Event]]


def evals_of(events: Iterable[Event]) -> list[Eval]:
    return [event for event in events if isinstance(event, Eval)]


def results(name: str = "test") -> Row:
    return {
        f"{name}/env/all/ac_tokens_per_turn": 30.0,
        f"{name}/env/all/total_episodes": 5,
        f"{name}/env/all/total_ac_tokens": 150,
        f"{name}/env/all/total_ob_tokens": 500,
        f"{name}/env/all/total_cached_ob_tokens": 100,
        f"{name}/env/all/reward/total": 0.4,
        f"{name}/env/all/correct": 0.7,
        f"{name}/env/hard/correct": 0.1,
    }


def test_an_evaluation_in_a_training_row_comes_before_its_step(train_row: MakeRow, feed: Feed) -> None:
    events = feed(MetricsParser(), [train_row(0) | results() | {"time/run_evals": 7.0}])
    assert [type(event).__name__ for event in events[-2:]] == ["Eval", "Step"]
    (found,) = evals_of(events)
    assert (found.step, found.name, found.episodes, found.duration_s) == (0, "test", 5, 7.0)
    assert (found.sampled_tokens, found.prefill_tokens, found.prefill_cached_tokens) == (150, 400, 100)
    assert found.response_length_mean == 30
    assert found.scores == {"reward/total": 0.4, "correct": 0.7}
    step = events[-1]
    assert isinstance(step, Step)
    assert step.duration_s == 20.0  # time/total has the evaluation in it already
    assert step.phases["eval"] == 7.0
    assert step.sampled_tokens == 160


def test_a_run_that_begins_with_an_evaluation_says_so(train_row: MakeRow, feed: Feed) -> None:
    def starts(rows: list[Row]) -> bool | None:
        infos = [event for event in feed(MetricsParser(), rows) if isinstance(event, RunInfo)]
        return infos[0].eval_at_start

    assert starts([train_row(0) | results()]) is True
    assert starts([train_row(0)]) is False
    assert starts([{"step": 0, "mean_reward": 0.5, "clock_cycle:unique": 1}]) is None


def test_evaluators_that_run_side_by_side_share_one_time(train_row: MakeRow, feed: Feed) -> None:
    row = train_row(0) | results() | results("gsm8k") | {"time/run_evals": 7.0}
    found = evals_of(feed(MetricsParser(), [row]))
    assert [(item.name, item.duration_s) for item in found] == [("test", 7.0), ("gsm8k", None)]


def test_an_asynchronous_evaluation_is_given_once(feed: Feed) -> None:
    row = results() | {
        "step": 5,
        "eval/snapshot/training_step": 5,
        "eval/completed_elapsed_seconds": 20.9,
        "eval/timing/time/total": 16.5,
        **{
            f"eval/by_{axis}/{key}": value
            for axis in ("step", "cost", "time")
            for key, value in results().items()
        },
    }
    (found,) = feed(MetricsParser(), [row])
    assert isinstance(found, Eval)
    assert (found.name, found.duration_s, found.sampled_tokens) == ("test", 16.5, 150)
    assert found.scores == {"reward/total": 0.4, "correct": 0.7}


def test_the_doubled_prefix_of_version_01_is_one(feed: Feed) -> None:
    row = results("test/test") | {"step": 5, "time/run_evals": 3.0, "time/evaluation_loop/total": 3.1}
    (found,) = feed(MetricsParser(), [row])
    assert isinstance(found, Eval)
    assert (found.name, found.duration_s) == ("test", 3.0)


def test_a_hand_written_loop_evaluates_in_rows_of_its_own(feed: Feed) -> None:
    rows: list[Row] = [
        {"step": 10, "mean_reward": 0.5, "time/step_s": 30.0},
        {"step": 10, "eval/pass_at_1": 0.35, "eval/n_problems": 20},
        {"step": 11, "mean_reward": 0.6, "time/step_s": 31.0},
    ]
    events = feed(MetricsParser(), rows)
    (found,) = evals_of(events)
    assert (found.name, found.episodes, found.scores) == ("eval", 20, {"pass_at_1": 0.35})
    assert [event.step for event in events if isinstance(event, Step)] == [10, 11]


def test_the_supervised_loop_evaluates_one_row_ahead(feed: Feed) -> None:
    base: Row = {"num_tokens": 10, "num_loss_tokens": 5, "time/finish_batch": 1.0}
    rows = [
        {"step": 49, **base, "time/evals": 7.5, "time/submit_batch": 7.6},
        {"step": 50, **base, "test/nll": 0.99, "time/submit_batch": 0.1},
        {"step": 51, **base, "time/submit_batch": 0.1},
    ]
    (found,) = evals_of(feed(MetricsParser(), rows))
    assert (found.step, found.duration_s, found.scores) == (50, 7.5, {"nll": 0.99})


def test_results_that_an_evaluator_names_as_it_likes_are_no_step(train_row: MakeRow, feed: Feed) -> None:
    events = feed(MetricsParser(), [train_row(0, 2), train_row(1, 2), {"step": 2, "mmlu/accuracy": 0.6}])
    assert [event.step for event in events if isinstance(event, Step)] == [0, 1]
    (found,) = evals_of(events)
    assert (found.step, found.scores) == (2, {"mmlu/accuracy": 0.6})
