"""The facts of a run."""

from rltop.models.run import RunInfo


def test_a_count_that_no_float_holds_is_unknown() -> None:
    info = RunInfo(total_steps=10**400, gpus=-(2**60), max_tokens=2048)
    assert (info.total_steps, info.gpus, info.max_tokens) == (None, None, 2048)
