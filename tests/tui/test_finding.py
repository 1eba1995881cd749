"""What a filter leaves of the keys of a log."""

from hypothesis import given
from hypothesis import strategies as st

from rltop.tui.finding import found

KEYS = ["critic/rewards/mean", "critic/rewards/max", "actor/kl_loss", "actor/entropy", "timing_s/step"]


def test_words_may_stand_in_any_order_and_case() -> None:
    assert found("MEAN rewards", KEYS) == ["critic/rewards/mean"]


def test_letters_in_order_find_what_no_word_does_the_nearest_first() -> None:
    assert found("rwmean", KEYS) == ["critic/rewards/mean"]
    assert found("akl", KEYS)[0] == "actor/kl_loss"


def test_signs_make_it_a_regular_expression() -> None:
    assert found("^actor/", KEYS) == ["actor/entropy", "actor/kl_loss"]
    assert found("max|step", KEYS) == ["critic/rewards/max", "timing_s/step"]


@given(st.text(max_size=30))
def test_any_filter_gives_some_of_the_keys_each_once(wanted: str) -> None:
    left = found(wanted, KEYS)
    assert len(left) == len(set(left))
    assert set(left) <= set(KEYS)
