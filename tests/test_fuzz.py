"""A first taste of `python -m bench.fuzz`: each format takes the same few broken logs calmly each time."""

from pathlib import Path

import pytest

from bench.fuzz.samples import samples
from bench.fuzz.trial import Trial
from rltop.monitor.sources import BUILT_IN

INPUTS = 40


def test_every_format_has_a_log_to_break() -> None:
    assert set(samples()) == set(BUILT_IN)


@pytest.mark.parametrize("entry", BUILT_IN)
def test_broken_logs_are_read_without_fuss(entry: str, tmp_path: Path) -> None:
    trial = Trial(entry, tmp_path)
    assert trial.steps_unbroken() > 0, "the log as it is has steps"
    failures = {number: failure for number in range(INPUTS) if (failure := trial.run(number)) is not None}
    assert failures == {}
