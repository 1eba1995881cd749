"""Each real file is opened by the format that it is in, and by no other."""

from pathlib import Path

import pytest

from rltop.monitor.source import Format
from rltop.monitor.sources import jsonl, slime, tensorboard, train_console, trl
from rltop.monitor.target import probe

OURS = (slime.FORMAT, trl.FORMAT, tensorboard.FORMAT, train_console.FORMAT, jsonl.FORMAT)
CASES: dict[str, Format] = {
    "slime/midrun-oom/train.log": slime.FORMAT,
    "slime/rollout-only/train.log": slime.FORMAT,
    "slime/tau2-excerpt/pt-fbuxh8xv_excerpt.log": slime.FORMAT,
    "tensorboard/wordle-trl": tensorboard.FORMAT,
    "tensorboard/wordle-trl/events.out.tfevents.1767724543.host.34196.0": tensorboard.FORMAT,
    "verl/format-v0.7.1-direct/tensorboard": tensorboard.FORMAT,
    "trl/console-bluebook/train.log": train_console.FORMAT,
    "trl/countdown-500/metrics.jsonl": jsonl.FORMAT,
    "trl/unsloth-console/train.log": trl.FORMAT,
    "trl/wordle-400/trainer_state.json": trl.FORMAT,
    "trl/wordle-400": trl.FORMAT,
}


@pytest.mark.parametrize("name", CASES)
def test_each_file_is_recognised_by_its_format_alone(name: str, shared_data: Path) -> None:
    seen = probe(shared_data / name)
    scores = {form.name: form.score(seen) for form in OURS}
    assert [told for told, score in scores.items() if score >= 0.2] == [CASES[name].name]


def test_the_other_runs_are_none_of_ours(shared_data: Path) -> None:
    paths = [path for folder in ("tinker", "verl") for path in (shared_data / folder).glob("*/*.log")]
    assert len(paths) > 10
    for path in paths:
        seen = probe(path)
        assert {form.name for form in OURS if form.score(seen) > 0} == set(), path
