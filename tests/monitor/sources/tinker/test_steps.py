"""Every shape of training row, in canonical names and units."""

import json
import math
from collections.abc import Callable

import pytest

from rltop.models.event import Event
from rltop.models.run import RunInfo
from rltop.models.step import Step
from rltop.monitor.source import Line
from rltop.monitor.sources.tinker.facts import RunFacts
from rltop.monitor.sources.tinker.metrics import MetricsParser

Row = dict[str, object]
MakeRow = Callable[..., Row]


def events_of(*rows: Row, max_tokens: int | None = None) -> list[Event]:
    parser = MetricsParser(RunFacts(max_tokens=max_tokens))
    lines = [Line(json.dumps(row), None, number) for number, row in enumerate(rows, 1)]
    return [event for line in lines for event in parser.feed(line)]


def steps_of(*rows: Row, max_tokens: int | None = None) -> list[Step]:
    return [event for event in events_of(*rows, max_tokens=max_tokens) if isinstance(event, Step)]


def info_of(*rows: Row) -> RunInfo:
    info = RunInfo()
    for event in events_of(*rows):
        if isinstance(event, RunInfo):
            info = info.merged(event)
    return info


def test_a_single_turn_datum_is_its_sequence_but_for_the_last_token(train_row: MakeRow) -> None:
    (step,) = steps_of(train_row(3))
    assert (step.step, step.sampled_tokens, step.prefill_tokens) == (3, 160, 400)
    assert step.trained_tokens == 400 + 160 - 4
    assert not step.trained_upper_bound
    assert step.prefill_cached_tokens is None
    assert step.logged_usd is None
    assert step.scored_tokens is None


def test_several_turns_bound_the_trained_tokens_from_above(train_row: MakeRow) -> None:
    row = train_row(0, **{"env/all/turns_per_episode": 3.0, "env/all/total_turns": 12})
    (step,) = steps_of(row)
    assert (step.trained_tokens, step.trained_upper_bound) == (556, True)
    assert step.turns == 12
    assert step.response_length_mean == 40  # per turn: that is what max_tokens caps
    assert info_of(row).multi_turn is True


def test_health_quantities_have_canonical_names(train_row: MakeRow) -> None:
    (step,) = steps_of(train_row(1))
    assert step.reward_mean == pytest.approx(0.51)
    assert (step.kl, step.entropy, step.lr) == (0.001, 0.8, 1e-4)
    assert step.zero_variance_groups == 0.25
    assert step.prompt_length_mean == 100


def test_counts_that_the_cookbook_bills_win_over_those_of_the_rollouts(billed_row: MakeRow) -> None:
    (step,) = steps_of(billed_row(0))
    assert step.sampled_tokens == 161
    assert (step.prefill_tokens, step.prefill_cached_tokens) == (100, 300)
    assert step.trained_tokens == 556
    assert step.logged_usd == 0.5


def test_cached_prompt_tokens_are_taken_off_the_full_rate(train_row: MakeRow) -> None:
    (step,) = steps_of(train_row(0, **{"env/all/total_cached_ob_tokens": 150}))
    assert (step.prefill_tokens, step.prefill_cached_tokens) == (250, 150)


def test_phases_of_version_01_do_not_overlap(train_row: MakeRow) -> None:
    (step,) = steps_of(train_row(0))
    assert step.duration_s == 20.0
    assert step.phases == {"update": 3.0, "weight_sync": 2.0, "other": 0.75}


def test_phases_of_version_06_leave_concurrent_sums_out(billed_row: MakeRow) -> None:
    (step,) = steps_of(billed_row(0))
    assert step.phases == {"generate": 9.0, "update": 4.0, "weight_sync": 2.5, "other": 1.25}
    (saved,) = steps_of(billed_row(0, **{"time/save_checkpoint_async": 1.0}))
    assert saved.phases["checkpoint"] == 2.5


def test_phases_that_overlap_are_not_told(train_row: MakeRow) -> None:
    (step,) = steps_of(train_row(0, **{"time/train": 30.0}))
    assert step.phases == {}


def test_a_teacher_prefills_each_sequence_and_samples_a_token(train_row: MakeRow) -> None:
    row = train_row(0, **{"teacher_kl": 4.5, "time/compute_kl_penalty": 6.0, "time/sample": 5.0})
    (step,) = steps_of(row)
    assert step.scored_tokens == 400 + 160 + 4
    assert step.kl == 4.5
    assert step.zero_variance_groups is None
    assert (step.phases["ref"], step.phases["generate"]) == (6.0, 5.0)
    assert info_of(row).algorithm == "distill"


def test_scoring_is_not_counted_again_where_the_bill_has_it(billed_row: MakeRow) -> None:
    (step,) = steps_of(billed_row(0, kl_policy_base=0.1))
    assert step.scored_tokens is None
    assert step.kl == 0.1


def test_supervised_wall_time_is_that_of_the_two_alternating_calls() -> None:
    row: Row = {
        "step": 1,
        "progress": 2 / 50,
        "learning_rate": 2e-5,
        "num_sequences": 4,
        "num_tokens": 2788,
        "num_loss_tokens": 2047.0,
        "train_mean_nll": 0.99,
        "time/get_batch": 0.1,
        "time/submit_batch": 0.25,
        "time/step": 0.5,
        "time/finish_batch": 0.75,
        "time/total": 1.7,
    }
    (step,) = steps_of(row)
    assert step.duration_s == 1.0
    assert step.trained_tokens == 2788
    assert step.loss == 0.99
    assert step.sampled_tokens is None
    assert step.clip_reliable is None
    assert info_of(row).algorithm == "sft"
    assert info_of(row).total_steps == 50


def test_an_early_supervised_row_has_only_the_pieces() -> None:
    row: Row = {
        "step": 0,
        "num_loss_tokens": 5,
        "num_tokens": 9,
        "time/step": 2.0,
        "time/get_batch": 0.5,
        "time/total": 4.0,
    }
    assert steps_of(row)[0].duration_s == 2.5


def test_a_preference_row_pays_for_the_reference_too() -> None:
    row: Row = {
        "step": 5,
        "progress": 5 / 40,
        "dpo_loss": 0.6,
        "chosen_reward": 0.1,
        "rejected_reward": -0.1,
        "learning_rate": 1e-5,
        "num_pairs": 8,
        "num_tokens": 1000,
        "time/total": 7.0,
        "batch_time": 7.0,
    }
    (step,) = steps_of(row)
    assert (step.trained_tokens, step.scored_tokens) == (1000, 1016)
    assert (step.loss, step.duration_s) == (0.6, 7.0)
    assert info_of(row).algorithm == "dpo"
    assert info_of(row).total_steps == 40


def test_the_minimal_loop_tells_no_tokens() -> None:
    row: Row = {
        "step": 0,
        "progress/batch": 0,
        "optim/lr": 1e-5,
        "progress/done_frac": 0.25,
        "reward/total": 0.5,
        "time/total": 9.0,
    }
    (step,) = steps_of(row)
    assert (step.reward_mean, step.duration_s) == (0.5, 9.0)
    assert step.sampled_tokens is None
    assert step.trained_tokens is None
    assert info_of(row).total_steps == 4


def test_a_hand_written_loop_is_read_by_its_telling_names() -> None:
    row: Row = {
        "step": 0,
        "mean_reward": 0.6,
        "format_rate": 0.9,
        "time/step_s": 30.0,
        "time/sample_s": 20.0,
        "time/score_s": 4.0,
        "time/train_s": 5.0,
        "clock_cycle:unique": 94609.0,
        "loss:sum": 12.5,
    }
    (step,) = steps_of(row)
    assert (step.reward_mean, step.duration_s, step.loss) == (0.6, 30.0, 12.5)
    assert step.phases == {"generate": 20.0, "reward": 4.0, "update": 5.0}
    assert step.raw["format_rate"] == 0.9
    assert info_of(row).framework_version is None


def test_a_mean_at_the_cap_means_that_all_were_cut(train_row: MakeRow) -> None:
    (step,) = steps_of(train_row(0), max_tokens=40)
    assert (step.clip_ratio, step.clip_reliable) == (1.0, True)
    (below,) = steps_of(train_row(0), max_tokens=50)
    assert (below.clip_ratio, below.clip_reliable) == (None, False)
    assert below.clip_why


def test_means_over_the_turns_that_carry_a_key_are_no_rates(train_row: MakeRow) -> None:
    row = train_row(
        0, **{"env/all/max_tokens_reached": 1.0, "env/all/stop/length": 1.0, "env/all/parse_error": 1.0}
    )
    (step,) = steps_of(row, max_tokens=500)
    assert (step.clip_ratio, step.clip_reliable) == (None, False)
    assert step.raw["env/all/max_tokens_reached"] == 1.0


def test_every_number_stays_under_its_own_name() -> None:
    text = (
        '{"step": 2, "optim/lr": NaN, "a": -Infinity, "deep": {"x": {"y": 3}}, "flag": true, "name": "run", '
        '"none": null, "list": [1], "reward/total": 0.5, "huge": 1' + "0" * 400 + "}"
    )
    (step,) = [event for event in MetricsParser().feed(Line(text)) if isinstance(event, Step)]
    assert math.isnan(step.raw.pop("optim/lr"))
    assert step.raw == {"a": -math.inf, "deep/x/y": 3, "flag": 1, "reward/total": 0.5, "huge": math.inf}
    assert step.lr is None


def test_nested_rows_mean_the_same_as_flat_ones() -> None:
    row: Row = {"step": 0, "env": {"all": {"total_ac_tokens": 7, "total_ob_tokens": 9, "total_episodes": 1}}}
    (step,) = steps_of(row)
    assert (step.sampled_tokens, step.trained_tokens) == (7, 15)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"step": 1, "loss"', "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ('{"step": "three", "loss": 1}', "step is not a number"),
        ('{"step": 1.5, "loss": 1}', "step is not a whole number of 0 or more"),
        ('{"step": NaN, "loss": 1}', "step is not a whole number of 0 or more"),
        ('{"step": -3, "loss": 1}', "step is not a whole number of 0 or more"),
        ('{"step": 1e300, "loss": 1}', "step is not a whole number of 0 or more"),
        ('{"words": "only"}', "no step"),
    ],
)
def test_a_line_that_is_no_row_is_counted_and_named(text: str, reason: str) -> None:
    parser = MetricsParser()
    assert list(parser.feed(Line(text, None, 12))) == []
    assert (parser.bad_lines, parser.first_bad) == (1, f"line 12: {reason}")


def test_a_torn_line_that_is_finished_later_was_not_bad(train_row: MakeRow) -> None:
    parser = MetricsParser()
    text = json.dumps(train_row(0))
    assert list(parser.feed(Line(text[:50], None, 1))) == []
    assert parser.bad_lines == 1
    assert any(isinstance(event, Step) for event in parser.feed(Line(text, None, 1)))
    assert (parser.bad_lines, parser.first_bad) == (0, "")


def test_the_shape_of_rows_tells_the_version(train_row: MakeRow, billed_row: MakeRow) -> None:
    assert info_of(train_row(0)).framework_version == "0.1"
    assert info_of(billed_row(0)).framework_version == ">=0.6"
    between = billed_row(0)
    for key in [key for key in between if key.startswith(("tokens/", "cost/")) or "cached" in key]:
        del between[key]
    assert info_of(between).framework_version == "0.2-0.5"


def test_the_total_is_exact_even_for_a_tiny_share(train_row: MakeRow) -> None:
    assert info_of(train_row(0, 29354)).total_steps == 29354
    assert info_of(train_row(0, 29354), train_row(1, 29354)).total_steps == 29354


def test_a_loop_that_logs_the_share_before_the_step_is_understood() -> None:
    rows: list[Row] = [
        {"step": step, "progress": step / 30, "num_tokens": 5, "num_loss_tokens": 3} for step in range(4)
    ]
    assert info_of(*rows).total_steps == 30


def test_a_first_step_is_told_only_where_it_is_the_first(train_row: MakeRow) -> None:
    assert info_of(train_row(0)).first_step == 0
    assert info_of(train_row(7)).first_step is None
