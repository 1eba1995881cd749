"""Logs are recognised by what they say; other frameworks' are left alone."""

from pathlib import Path

import pytest

from rltop.monitor import target
from rltop.monitor.source import Probe
from rltop.monitor.sources.verl import CONSOLE, FILE_LOGGER, FOLDER


def look(head: str) -> Probe:
    return Probe(Path("anything"), is_dir=False, head=head)


@pytest.mark.parametrize(
    "head",
    [
        "step:1 - actor/pg_loss:0.1 - timing_s/step:3.0",
        "chatter\n(TaskRunner pid=1) step:0 - val-core/a/acc/mean@1:0.5",
        "step:1 - train/loss:2.24 - train/lr(1e-3):0.0005",
        "(main_task pid=1) {'actor_rollout_ref': {'actor': {'clip_ratio': 0.2,",
        "+ python3 -m verl.trainer.main_ppo data.train_batch_size=4",
        'Error executing job with overrides: []\n  File "/x/verl/trainer/main_ppo.py", line 40, in main',
        "\x1b[36m(TaskRunnerV1 pid=1)\x1b[0m TaskRunner hostname: h, PID: 1",
        "(WorkerDict pid=1) NCCL version 2.27.3",
    ],
)
def test_a_console_is_recognised_even_before_its_first_step(head: str) -> None:
    assert CONSOLE.score(look(head)) >= 0.5


@pytest.mark.parametrize(
    "head",
    [
        "",
        "step 1: loss 0.5",
        "(MegatronTrainRayActor pid=3) step 11: {'train/loss': 0.5}",
        "{'loss': 0.5, 'grad_norm': 1.0, 'epoch': 0.1}",
        '{"step": 1, "data": {"actor/pg_loss": 0.5}}',
        '{"text": "run -m verl.trainer.main_ppo, step:1 - actor/x:1"}',
        "#!/bin/bash\npython3 -m verl.trainer.main_ppo data.train_batch_size=4",
        "set -x\npython3 -m verl.trainer.main_ppo data.train_batch_size=4",
        "- actor_rollout_ref.model.path=x\n- trainer.nnodes=1",
        "training/global_step:1 - training/epoch:0",
    ],
)
def test_what_is_no_console_is_left_alone(head: str) -> None:
    assert CONSOLE.score(look(head)) == 0


def test_the_file_logger_is_told_from_other_json_lines() -> None:
    assert FILE_LOGGER.score(look('{"step":1,"data":{"timing_s/step":1.0}}\n{"st')) > 0.9
    assert FILE_LOGGER.score(look('{"step":1,"loss":0.5}\n')) == 0
    assert FILE_LOGGER.score(look('{"step":1,"data":"x"}\n')) == 0
    assert 0 < FILE_LOGGER.score(look('{"step":1,"data":{"loss":0.5}}\n')) < 0.5


def probe(path: Path) -> Probe:
    return Probe(path, is_dir=True, names=tuple(sorted(p.name for p in path.iterdir())))


def test_a_folder_with_one_run_is_recognised_and_an_empty_one_is_not(tmp_path: Path) -> None:
    assert FOLDER.score(probe(tmp_path)) == 0
    (tmp_path / "notes.txt").write_text("nothing")
    assert FOLDER.score(probe(tmp_path)) == 0
    (tmp_path / "whatever").write_text("step:1 - actor/pg_loss:0.1\n")
    assert FOLDER.score(probe(tmp_path)) > 0.9


def test_a_folder_with_several_runs_is_not_taken_for_one(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text("step:1 - actor/pg_loss:0.1\n")
    assert FOLDER.score(probe(tmp_path)) < 0.5


def test_a_hydra_folder_alone_is_a_run(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra" / "config.yaml").write_text("actor_rollout_ref:\n  model:\n    path: Org/M\n")
    assert FOLDER.score(probe(tmp_path)) >= 0.5
    assert len(FOLDER.open(tmp_path)) == 1


def test_the_console_with_steps_is_opened_rather_than_the_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "err").write_text("(WorkerDict pid=1) warning\n")
    (tmp_path / "out").write_text("step:1 - actor/pg_loss:0.1 - timing_s/step:2.0\n")
    events = [event for source in FOLDER.open(tmp_path) for event in source.poll(0.0)]
    assert any(event.kind == "step" for event in events)


def test_a_console_is_opened_with_the_hydra_folder_beside_it_and_beats_it(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra" / "config.yaml").write_text(
        "actor_rollout_ref:\n  model:\n    path: Org/Old\n  rollout:\n    'n': 3\n"
    )
    log = tmp_path / "run.log"
    log.write_text("(TaskRunner pid=1) {'actor_rollout_ref': {'model': {'path': 'Org/New'}}}\n")
    models = [
        event.model
        for source in CONSOLE.open(log)
        for event in source.poll(0.0)
        if event.kind == "run" and event.model
    ]
    assert models == ["Org/Old", "Org/New"]


def test_other_frameworks_runs_are_not_claimed(shared_data: Path) -> None:
    for name in ("slime", "trl", "tinker"):
        for path in sorted((shared_data / name).rglob("*")):
            seen = target.probe(path)
            assert max(form.score(seen) for form in (CONSOLE, FILE_LOGGER, FOLDER)) == 0, path


def test_every_log_of_verl_is_claimed(shared_data: Path) -> None:
    for path in sorted((shared_data / "verl").glob("*/*.log")):
        assert CONSOLE.score(target.probe(path)) >= 0.5, path
