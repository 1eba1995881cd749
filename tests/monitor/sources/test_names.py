import pytest

from rltop.monitor.sources.names import fields_of, meaning_of

SURE = {
    "avg_gen_tokens": "response_length_mean",
    "max_gen_tokens": "response_length_max",
    "response_length/mean": "response_length_mean",
    "train/response_length_mean": "response_length_mean",
    "mean_completion_length": "response_length_mean",
    "responseLengthMean": "response_length_mean",
    "generation/avg_num_tokens_per_sample": "response_length_mean",
    "completions/min_length": "response_length_min",
    "prompt_length_mean": "prompt_length_mean",
    "reward/mean": "reward_mean",
    "mean_reward": "reward_mean",
    "train/reward": "reward_mean",
    "step_time": "duration_s",
    "time/step": "duration_s",
    "learning_rate": "lr",
    "grad_norm": "grad_norm",
    "train/loss": "loss",
    "approx_kl": "kl",
    "truncation_rate": "clip_ratio",
}
DOUBTFUL = (
    "clip_ratio",  # the policy's, or the responses'?
    "response_length",  # a mean, a sum, a limit?
    "response_length_std",
    "response_length/median",
    "prompt_response_length_mean",
    "total_gen_tokens",
    "num_tokens",
    "eval/reward/mean",
    "val_loss",
    "test/response_length/mean",
    "reward_std",
    "reward_model_time",
    "value_loss",
    "max_tokens",
    "time",
    "tokens",
    "",
    "___",
    "accuracy",
)


@pytest.mark.parametrize(("name", "field"), SURE.items())
def test_a_telling_name_is_taken(name: str, field: str) -> None:
    meaning = meaning_of(name)
    assert meaning is not None
    assert meaning.field == field


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_doubtful_name_is_left(name: str) -> None:
    assert meaning_of(name) is None


def test_units_are_converted() -> None:
    assert fields_of({"step_time_ms": 1500.0})[0] == {"duration_s": 1.5}


def test_of_several_keys_the_plainest_wins_wherever_it_stands() -> None:
    for values in ({"reward": 1.0, "reward/mean": 2.0}, {"reward/mean": 2.0, "reward": 1.0}):
        assert fields_of(values) == ({"reward_mean": 2.0}, {"reward_mean": "reward/mean"})


def test_a_share_beyond_one_is_no_share() -> None:
    assert fields_of({"truncation_rate": 40.0})[0] == {}


def test_counts_make_the_clip_ratio_and_the_sampled_tokens() -> None:
    found, taken = fields_of({"avg_gen_tokens": 500.0, "truncated_count": 5, "rollout_count": 20})
    assert found == {
        "response_length_mean": 500,
        "episodes": 20,
        "clip_ratio": 0.25,
        "sampled_tokens": 10_000,
    }
    assert taken["clip_ratio"] == "truncated_count / rollout_count"


def test_nan_is_not_a_value() -> None:
    assert fields_of({"loss": float("nan"), "rollout_count": float("inf")})[0] == {}
