"""The files beside the metrics: config, checkpoints, logs and rollout summaries."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rltop.models.event import Ended, Event, LogLine, SourceStatus
from rltop.models.run import RunInfo
from rltop.models.step import Step
from rltop.monitor.source import Line
from rltop.monitor.sources.tinker import FORMAT
from rltop.monitor.sources.tinker.checkpoints import CheckpointParser
from rltop.monitor.sources.tinker.config import info_of
from rltop.monitor.sources.tinker.facts import RunFacts
from rltop.monitor.sources.tinker.logs import LogParser

Row = dict[str, object]
MakeRow = Callable[..., Row]
ReadRun = Callable[[Path], list[Event]]

CONFIG: Row = {
    "model_name": "org/model-4b",
    "log_path": "runs/a",
    "max_tokens": 64,
    "learning_rate": 1e-5,
    "lora_rank": 16,
    "eval_every": 5,
    "save_every": 10,
    "kl_penalty_coef": 0.0,
    "base_url": None,
    "dataset_builder": {"batch_size": 4, "group_size": 2, "renderer_name": "plain"},
}


def write_run(folder: Path, rows: Iterable[Row], config: Row | None = CONFIG) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))


def write_rollouts(path: Path, lengths: Iterable[Iterable[int]]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = [
        json.dumps({"split": "train", "steps": [{"ob_len": 9, "ac_len": n} for n in turns]})
        for turns in lengths
    ]
    path.write_text("".join(line + "\n" for line in lines))


def steps_of(events: Iterable[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def merged(events: Iterable[Event]) -> RunInfo:
    info = RunInfo()
    for event in events:
        if isinstance(event, RunInfo):
            info = info.merged(event)
    return info


def log_events(text: str, facts: RunFacts | None = None) -> list[Event]:
    parser = LogParser(facts)
    lines = [Line(line, None, number) for number, line in enumerate(text.splitlines(), 1)]
    return [event for line in lines for event in parser.feed(line)] + list(parser.flush())


def test_a_folder_and_the_file_in_it_are_the_same_run(
    tmp_path: Path, train_row: MakeRow, read_run: ReadRun
) -> None:
    run = tmp_path / "run-a"
    write_run(run, [train_row(0), train_row(1)])
    assert read_run(run) == read_run(run / "metrics.jsonl")
    info = merged(read_run(run))
    assert (info.framework, info.platform, info.name, info.model) == (
        "tinker",
        "tinker",
        "run-a",
        "org/model-4b",
    )
    assert (info.groups, info.group_size, info.lora_rank, info.max_tokens) == (4, 2, 16, 64)
    assert (info.eval_every, info.save_every, info.reference_pass) == (5, 10, False)
    assert info.config["dataset_builder.renderer_name"] == "plain"


def test_a_changed_config_is_read_again(tmp_path: Path, train_row: MakeRow) -> None:
    write_run(tmp_path, [train_row(0)])
    (source,) = FORMAT.open(tmp_path)
    assert merged(source.poll(1.0)).max_tokens == 64
    assert merged(source.poll(2.0)) == RunInfo()
    (tmp_path / "config.json").write_text(json.dumps(CONFIG | {"max_tokens": 4096}))
    assert merged(source.poll(3.0)).max_tokens == 4096
    source.close()


def test_a_config_that_is_no_json_is_named(tmp_path: Path, train_row: MakeRow, read_run: ReadRun) -> None:
    write_run(tmp_path, [train_row(0)])
    (tmp_path / "config.json").write_text("{not json")
    events = read_run(tmp_path)
    (status,) = [e for e in events if isinstance(e, SourceStatus) and e.source == "tinker-config"]
    assert status.bad_lines == 1
    assert len(steps_of(events)) == 1


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {"dataset_builder": {"groups_per_batch": 16, "group_size": 32}, "max_tokens": 9},
            {"groups": 16, "algorithm": "rl"},
        ),
        (
            {"dataset_builder": {"common_config": {"batch_size": 4}}, "lr_schedule": "linear"},
            {"groups": None, "algorithm": "sft"},
        ),
        ({"dpo_beta": 0.1, "dataset_builder": {"common_config": {}}}, {"algorithm": "dpo"}),
        (
            {
                "dataset_configs": [{"teacher_config": {"base_model": "org/teacher"}, "groups_per_batch": 8}],
                "max_tokens": 5,
            },
            {"algorithm": "distill", "teacher_model": "org/teacher", "groups": 8},
        ),
        (
            {"max_steps": 200, "batch_size": 128, "group_size": 8, "max_tokens": 7},
            {"total_steps": 200, "groups": None},
        ),
        ({"dataset_builder": {}, "max_steps": 200}, {"total_steps": None}),
        (
            {"eval_every": 0, "max_tokens": True, "lora_rank": float("nan")},
            {"eval_every": None, "max_tokens": None, "lora_rank": None},
        ),
        ({"kl_penalty_coef": 0.1}, {"reference_pass": True}),
    ],
)
def test_recipes_name_their_settings_differently(config: Row, expected: Row) -> None:
    info = info_of(config)
    assert {name: getattr(info, name) for name in expected} == expected


def test_another_server_than_tinkers_is_remarked_on() -> None:
    assert info_of({"base_url": "http://127.0.0.1:8000"}).notes
    assert not info_of({"base_url": "https://tinker.thinkingmachines.dev/services/x"}).notes


def test_rollout_summaries_give_the_exact_clip_ratio(
    tmp_path: Path, train_row: MakeRow, read_run: ReadRun
) -> None:
    write_run(tmp_path, [train_row(0), train_row(1)])
    write_rollouts(tmp_path / "iteration_000000" / "train_rollout_summaries.jsonl", [[64], [64, 12], [20]])
    write_rollouts(tmp_path / "train_iteration_000001_rollout_summaries.jsonl", [[70], [30], [30], [30]])
    first, second = steps_of(read_run(tmp_path))
    assert (first.clip_ratio, first.clip_reliable) == (0.5, True)
    assert (first.response_length_min, first.response_length_max) == (12, 64)
    assert second.clip_ratio == 0.25


def test_rollouts_of_another_attempt_are_not_used(
    tmp_path: Path, train_row: MakeRow, read_run: ReadRun
) -> None:
    write_run(tmp_path, [train_row(0)])
    write_rollouts(tmp_path / "iteration_000000" / "train_rollout_summaries.jsonl", [[64], [64]])
    (step,) = steps_of(read_run(tmp_path))
    assert (step.clip_ratio, step.clip_reliable) == (None, False)


def test_what_a_rollout_says_in_words_is_no_length(
    tmp_path: Path, train_row: MakeRow, read_run: ReadRun
) -> None:
    write_run(tmp_path, [train_row(0)])
    path = tmp_path / "iteration_000000" / "train_rollout_summaries.jsonl"
    path.parent.mkdir()
    turns: list[Row] = [{"ac_len": 64, "logs": {"text": '"ac_len": 64, "ac_len": 1'}}, {"ac_len": 96}]
    path.write_text(json.dumps({"steps": turns}) + "\n" + '{"steps": [{"ac_len": 7')
    (step,) = steps_of(read_run(tmp_path))
    assert (step.response_length_min, step.response_length_max, step.clip_ratio) == (64, 96, 1.0)


def test_rollouts_written_after_the_metrics_are_added_once(tmp_path: Path, train_row: MakeRow) -> None:
    write_run(tmp_path, [train_row(0)])
    (source,) = FORMAT.open(tmp_path)
    assert steps_of(source.poll(1.0))[0].clip_ratio is None
    write_rollouts(tmp_path / "iteration_000000" / "train_rollout_summaries.jsonl", [[64], [64], [16], [16]])
    (part,) = steps_of(source.poll(2.0))
    assert (part.step, part.attempt, part.clip_ratio, part.response_length_max) == (0, 0, 0.5, 64)
    assert steps_of(source.poll(3.0)) == []
    source.close()


def test_lengths_without_a_known_cap_make_no_clip_ratio(
    tmp_path: Path, train_row: MakeRow, read_run: ReadRun
) -> None:
    write_run(tmp_path, [train_row(0)], config=None)
    write_rollouts(tmp_path / "iteration_000000" / "train_rollout_summaries.jsonl", [[80], [80]])
    (step,) = steps_of(read_run(tmp_path))
    assert (step.clip_ratio, step.response_length_max) == (None, 80)
    assert step.clip_why is not None
    assert "max_tokens" in step.clip_why


def test_a_checkpoint_names_the_training_run(tmp_path: Path, train_row: MakeRow, read_run: ReadRun) -> None:
    write_run(tmp_path, [train_row(0)])
    record = {"name": "000010", "batch": 10, "state_path": "tinker://0a1b-22:train:0/weights/000010"}
    (tmp_path / "checkpoints.jsonl").write_text(json.dumps(record) + "\nnot json\n")
    events = read_run(tmp_path)
    info = merged(events)
    assert (info.session_id, info.config["tinker.training_run_id"]) == ("0a1b-22", "0a1b-22:train:0")
    (line,) = [event for event in events if isinstance(event, LogLine)]
    assert line.topic == "checkpoint"
    assert "000010" in line.text
    assert not any(isinstance(event, Ended) for event in events)
    (status,) = [e for e in events if isinstance(e, SourceStatus) and e.source == "tinker-checkpoints"]
    assert (status.lines, status.bad_lines) == (2, 1)


@pytest.mark.parametrize(
    ("facts", "record", "ends"),
    [
        (RunFacts(last_step=9, total_steps=10), {"name": "final", "batch": 10}, True),
        (RunFacts(), {"name": "000010", "batch": 10, "final": True}, True),
        (RunFacts(last_step=2243, total_steps=2244), {"name": "final", "batch": 0, "epoch": 1}, True),
        (RunFacts(last_step=12, total_steps=20), {"name": "final", "batch": 10}, False),
        (RunFacts(resumed_at=12, total_steps=15), {"name": "final", "batch": 12}, False),
        (RunFacts(last_step=9, total_steps=10, over=True), {"name": "final", "batch": 10}, False),
        (RunFacts(last_step=9), {"name": "000010", "batch": 10}, False),
    ],
)
def test_a_final_checkpoint_ends_the_run_unless_it_went_on(facts: RunFacts, record: Row, ends: bool) -> None:
    events = CheckpointParser(facts).feed(Line(json.dumps(record)))
    assert any(isinstance(event, Ended) for event in events) is ends


@pytest.mark.parametrize(
    ("record", "topic", "level"),
    [
        (
            "[WARNING] Training for r is paused. Reason: concurrent training clients rate limit hit.",
            "capacity",
            "warning",
        ),
        (
            "[WARNING] Sampling for m is paused. Reason: running short on capacity, please wait.",
            "capacity",
            "warning",
        ),
        ("[WARNING] The job is paused due to billing status. Error: no credit", "billing", "warning"),
        ("[ERROR] The job was paused due to billing status for 3601 seconds. Aborting.", "billing", "error"),
        ("[CRITICAL] out of luck", "", "error"),
    ],
)
def test_pauses_and_errors_are_told(record: str, topic: str, level: str) -> None:
    (event,) = log_events(f"tinker.lib.some_module:55 {record}")
    assert isinstance(event, LogLine)
    assert (event.topic, event.level) == (topic, level)
    assert event.text in record


def test_advice_of_the_sdk_is_not_told() -> None:
    assert log_events("tinker.lib.sync_only:89 [WARNING] Synchronous method called from async context.") == []


def test_a_log_tells_the_session_and_the_plan() -> None:
    text = (
        "root:791 [INFO] Command line invocation: train.py model_name=org/model-4b group_size=4\n"
        "tinker.lib.service_client:66 [INFO] ServiceClient initialized for session abc-1\n"
        "tinker_cookbook.rl.train:1104 [INFO] Will train on 57 batches\n"
        "tinker_cookbook.rl.train:1513 [INFO] [training_loop] Step 0: Will train on batch, num groups: 4\n"
        "tinker_cookbook.rl.train:900 [INFO] Resumed training from tinker://abc/weights/000010\n"
    )
    events = log_events(text)
    info = merged(events)
    assert (info.session_id, info.total_steps, info.model) == ("abc-1", 57, "org/model-4b")
    (line,) = [event for event in events if isinstance(event, LogLine)]
    assert line.text.startswith("Resumed training from")


def test_the_metrics_know_the_plan_better_until_a_resume_changes_it() -> None:
    first = "tinker_cookbook.supervised.train:1 [INFO] Training for 100 batches x 3 epochs = 300 steps\n"
    assert merged(log_events(first)).total_steps == 300
    assert merged(log_events(first, RunFacts(total_steps=250))).total_steps is None
    again = first + first.replace("x 3 epochs = 300", "x 5 epochs = 500")
    assert merged(log_events(again, RunFacts(total_steps=250))).total_steps == 500


def test_a_traceback_is_told_by_its_last_line() -> None:
    text = (
        "tinker_cookbook.rl.train:9 [ERROR] evaluation failed\n"
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in <module>\n'
        "    run()\n"
        "ValueError: no such dataset\n"
    )
    last = log_events(text)[-1]
    assert isinstance(last, LogLine)
    assert (last.topic, last.level, last.text) == ("traceback", "error", "ValueError: no such dataset")


def test_what_a_model_wrote_is_no_log_record() -> None:
    text = (
        "tinker_cookbook.rl.train:105 [INFO] \n"
        "====== Trajectory Group ======\n"
        "Assistant: the program printed\n"
        "Traceback (most recent call last):\n"
        "NameError: x\n"
        " tinker.lib:1 [ERROR] indented\n"
        "Will train on 7 batches\n"
    )
    assert log_events(text) == []


def test_a_log_copied_anew_is_not_told_again() -> None:
    parser = LogParser()
    error = Line("a.b:1 [ERROR] broken", None, 2)
    first = Line("a.b:1 [INFO] hello", None, 1)
    events = [event for line in (first, error) for event in parser.feed(line)]
    assert len(events) == 1
    list(parser.restart())
    assert [event for line in (first, error) for event in parser.feed(line)] == []
    assert len(list(parser.feed(Line("a.b:1 [ERROR] more", None, 3)))) == 1
    list(parser.restart())
    assert len(list(parser.feed(Line("c.d:1 [ERROR] another run", None, 1)))) == 1


def test_files_that_are_not_there_yet_are_read_when_they_come(tmp_path: Path, train_row: MakeRow) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (source,) = FORMAT.open(tmp_path)
    events = source.poll(1.0)
    assert merged(events).model == "org/model-4b"
    assert [event.state for event in events if isinstance(event, SourceStatus)] == ["waiting"]
    write_run(tmp_path, [train_row(0)])
    (tmp_path / "logs.log").write_text("a.b:1 [ERROR] broken\n")
    events = source.poll(2.0)
    assert len(steps_of(events)) == 1
    assert any(isinstance(event, LogLine) for event in events)
    source.close()


def test_two_thousand_iterations_cost_one_look_each(
    tmp_path: Path, train_row: MakeRow, read_run: ReadRun
) -> None:
    write_run(tmp_path, [train_row(step, 2000) for step in range(2000)])
    for step in range(0, 2000, 100):
        write_rollouts(
            tmp_path / f"iteration_{step:06d}" / "train_rollout_summaries.jsonl", [[64], [64], [16], [16]]
        )
    known = [step.step for step in steps_of(read_run(tmp_path)) if step.clip_ratio == 0.5]
    assert known == list(range(0, 2000, 100))
