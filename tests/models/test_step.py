"""A step made of what a reader has checked, beside one that checks itself."""

import pytest
from pydantic import ValidationError

from rltop.models.step import Step

TOLD = {"step": 7, "kl": 0.5, "phases": {"generate": 2.0}, "raw": {"loss": 0.25}}


def test_a_step_of_checked_values_is_the_same_as_one_that_was_looked_through() -> None:
    step = Step.of(TOLD)
    assert step == Step.model_validate(TOLD)
    assert step.model_dump_json() == Step.model_validate(TOLD).model_dump_json()
    assert step.model_fields_set == set(TOLD)
    assert step.model_copy(update={"attempt": 2}).attempt == 2


def test_steps_share_no_empty_phases() -> None:
    assert Step.of({"step": 1}).phases is not Step.of({"step": 2}).phases
    assert Step.of({"step": 1}).raw is not Step.of({"step": 2}).raw


def test_a_checked_step_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Step.of(TOLD).kl = 1.0  # pyright: ignore[reportAttributeAccessIssue]
