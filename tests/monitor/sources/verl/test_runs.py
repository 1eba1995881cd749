"""The course of a run: progress, restarts, failures, the end."""

from collections.abc import Callable

import pytest

from rltop.models.event import Ended, Event, LogLine, Progress, Restart
from rltop.models.step import Step
from rltop.monitor.state import RunState

Read = Callable[..., list[Event]]
Fold = Callable[..., RunState]


def line(step: int, seconds: float = 10.0, more: str = "") -> str:
    times = f"timing_s/gen:4.0 - timing_s/step:{seconds}"
    return f"(TaskRunner pid=1) step:{step} - actor/pg_loss:0.5 - {more}{times}"


def bar(step: int, total: int, elapsed: str, rate: str = "10.0s/it") -> str:
    left = "?" if rate == "?it/s" else "1:00:00"
    return (
        f"(TaskRunner pid=1) \rTraining Progress:  1%|#         | {step}/{total} [{elapsed}<{left}, {rate}]"
    )


def kinds(events: list[Event], *types: type) -> list[Event]:
    return [event for event in events if isinstance(event, types)]


def test_the_last_update_of_a_bar_counts(fold: Fold) -> None:
    text = bar(4, 80, "00:40") + "\rTraining Progress:  6%|# | 5/80 [27:46:39<10:00, 9.0s/it]"
    assert fold(text).progress == Progress(step=5, total_steps=80, elapsed_s=99999.0, attempt=0)
    assert fold(text).info.total_steps == 80


def test_a_cut_update_gives_way_to_the_one_before(fold: Fold) -> None:
    progress = fold(bar(4, 80, "00:40") + "\rTraining Progress:  6%|# | 5/8").progress
    assert progress is not None
    assert (progress.step, progress.total_steps) == (4, 80)


def test_a_bar_as_wide_as_the_terminal_is_read(fold: Fold) -> None:
    text = f"Training Progress:   0%|{' ' * 150}| 1/563250 [17:45<166778:49:50, 1065.97s/it]"
    progress = fold(text).progress
    assert progress is not None
    assert (progress.total_steps, progress.elapsed_s) == (563250, 1065.0)


@pytest.mark.parametrize("label", ["Loading checkpoint shards", "Capturing CUDA graphs", "Epoch 1/9", ""])
def test_other_bars_are_not_the_training_s(fold: Fold, label: str) -> None:
    assert fold(f"{line(1)}\n\r{label}:  75%|###  | 3/4 [00:13<00:04, 4.43s/it]").progress is None


@pytest.mark.parametrize(
    "marker",
    [
        "(TaskRunner pid=2) Setting global step to 2",
        "(TaskRunner pid=2) Resuming from /ckpt/global_step_2",
        "INFO:2026-01-02 03:04:05,678:Resuming from /ckpt/global_step_2, setting global step to 2",
        "(TaskRunner pid=2) Setting global step to 2\n(TaskRunner pid=2) Resuming from /ckpt/global_step_2",
        "",
    ],
)
def test_steps_after_a_resume_are_told_as_another_attempt(fold: Fold, read: Read, marker: str) -> None:
    text = "\n".join(
        [line(1), line(2), line(3, 11.0), line(4), marker, line(3, 12.0), line(4, 13.0), line(5)]
    )
    restarts = kinds(read(text), Restart)
    assert [(r.from_step, r.attempt) for r in restarts if isinstance(r, Restart)] == [(3, 1)]
    state = fold(text)
    assert list(state.history.attempts) == [0, 0, 0, 0, 1, 1, 1]
    assert [state.history.steps[i] for i in state.history.progress] == [1, 2, 3, 4, 5]


def test_a_bar_that_starts_anew_is_a_restart(read: Read) -> None:
    text = "\n".join([bar(0, 9, "00:00", "?it/s"), line(1), bar(1, 9, "00:10"), line(2), bar(2, 9, "00:20")])
    assert not kinds(read(text), Restart)
    (restart,) = kinds(read(text + "\n" + bar(1, 9, "00:00", "?it/s")), Restart)
    assert restart == Restart(from_step=2, attempt=1)


def test_a_log_that_begins_with_a_resume_is_a_first_attempt(read: Read) -> None:
    text = "\n".join(["Setting global step to 60", bar(60, 99, "00:00", "?it/s"), line(61), line(62)])
    assert not kinds(read(text), Restart)


def test_the_step_after_the_last_save_may_run_twice(fold: Fold) -> None:
    state = fold("\n".join([line(1), line(2, 10.0), line(2, 12.0)]))
    assert (list(state.history.steps), list(state.history.attempts)) == ([1, 2, 2], [0, 0, 1])


def test_two_asynchronous_steps_may_be_told_out_of_order(fold: Fold) -> None:
    late = "step:3 - fully_async/rollouter/active_time:5.0 - timing_s/step:1.0"
    state = fold("\n".join([line(2), line(4), late]))
    assert state.attempt == 0


TRACE = """\
{by}Traceback (most recent call last):
{by}  File "/x/{file}", line 12, in {where}
{by}    run()
{by}ValueError: what went wrong
{by}and then it went on
"""


def ended(events: list[Event]) -> list[Ended]:
    return [event for event in events if isinstance(event, Ended)]


def test_a_worker_s_traceback_is_shown_and_is_no_crash(read: Read) -> None:
    events = read(line(1) + "\n" + TRACE.format(by="(WorkerDict pid=9) ", file="a.py", where="<module>"))
    assert not ended(events)
    (log,) = kinds(events, LogLine)
    assert log == LogLine(text="ValueError: what went wrong", level="error", topic="traceback")


def test_the_same_failure_is_shown_once(read: Read) -> None:
    trace = TRACE.format(by="(WorkerDict pid=9) ", file="a.py", where="f")
    assert len(kinds(read(line(1) + "\n" + trace * 40), LogLine)) == 1


def test_a_traceback_that_a_function_printed_is_no_crash(read: Read) -> None:
    assert not ended(read(line(1) + "\n" + TRACE.format(by="", file="reward.py", where="score")))


def test_an_exception_that_nothing_caught_is_a_crash(read: Read) -> None:
    (end,) = ended(read(line(1) + "\n" + TRACE.format(by="", file="verl/main.py", where="<module>")))
    assert (end.status, end.message) == ("crashed", "ValueError: what went wrong")


def test_a_spawned_helper_is_not_the_run(read: Read) -> None:
    text = (
        line(1) + "\n" + TRACE.format(by="", file="train", where="<module>").replace("/x/train", "<string>")
    )
    assert not ended(read(text))


def test_code_that_a_reward_function_ran_is_not_the_run(read: Read) -> None:
    trace = TRACE.format(by="", file="solution.py", where="<module>")
    assert not ended(read(line(1) + "\n" + trace))


def test_a_failed_rank_is_named_as_the_cause_that_torchrun_does_not_repeat(read: Read) -> None:
    rank = TRACE.format(by="[rank0]: ", file="verl/trainer/fsdp_sft_trainer.py", where="<module>")
    launcher = TRACE.format(by="", file="bin/torchrun", where="<module>").replace(
        "ValueError: what went wrong", "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: "
    )
    ends = ended(read(line(1) + "\n" + rank + launcher))
    assert {end.message for end in ends} == {"ValueError: what went wrong"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "slurmstepd: error: *** JOB 71 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***",
            "JOB 71 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT",
        ),
        (
            "run.sh: line 12: 48213 Killed                  python3 -m verl.trainer.main_ppo",
            "Killed, says the shell",
        ),
        (
            "run.sh: line 12: 48213 Segmentation fault      (core dumped)",
            "Segmentation fault, says the shell",
        ),
    ],
)
def test_a_run_that_was_ended_from_outside_is_a_crash(read: Read, words: str, message: str) -> None:
    (end,) = ended(read(line(1) + "\n" + words))
    assert (end.status, end.message) == ("crashed", message)


def test_an_ignored_exception_is_nothing(read: Read) -> None:
    text = "Exception ignored in: <function Tracker.__del__>\n" + TRACE.format(
        by="", file="a.py", where="<module>"
    )
    assert not kinds(read(line(1) + "\n" + text), Ended, LogLine)


HYDRA = (
    "Error executing job with overrides: ['data.train_batch_size=4']\n"
    + TRACE.format(by="", file="main_ppo.py", where="main").replace("and then it went on", "")
    + "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.\n"
)


def test_hydra_s_report_is_a_crash_with_the_last_exception_as_its_message(read: Read) -> None:
    (end,) = ended(read(line(1) + "\n" + HYDRA))
    assert (end.status, end.message) == ("crashed", "ValueError: what went wrong")


def test_hydra_s_report_without_a_traceback_is_a_crash(read: Read) -> None:
    (end,) = ended(read("Error executing job with overrides: []\n"))
    assert end.status == "crashed"


def test_steps_after_a_crash_take_it_back(fold: Fold) -> None:
    assert fold(line(1) + "\n" + HYDRA).ended is not None
    assert fold(line(1) + "\n" + HYDRA + "Setting global step to 1\n" + line(2)).ended is None


def test_running_out_of_memory_is_told_as_such(read: Read) -> None:
    trace = TRACE.format(by="(WorkerDict pid=9) ", file="a.py", where="f").replace(
        "ValueError: what went wrong", "torch.OutOfMemoryError: CUDA out of memory. Tried 2 GiB"
    )
    (log,) = kinds(read(trace), LogLine)
    assert isinstance(log, LogLine)
    assert log.topic == "oom"


def test_a_worker_that_ray_killed_is_told_and_is_no_crash(read: Read) -> None:
    events = read("(raylet) A worker died or was killed while executing a task, maybe the OOM killer.")
    (log,) = kinds(events, LogLine)
    assert isinstance(log, LogLine)
    assert (log.topic, log.level) == ("oom", "error")
    assert not ended(events)


def test_a_ray_job_that_failed_is_a_crash(read: Read) -> None:
    (end,) = ended(read(line(1) + "\nJob 'raysubmit_abc123' failed\n"))
    assert end.status == "crashed"


@pytest.mark.parametrize(
    "end",
    [
        "(TaskRunner pid=1) 'Final validation metrics: None'",
        "(TaskRunner pid=1) (\"Final validation metrics: {'val-core/a/acc/mean@1': \"",
        bar(3, 3, "00:30"),
        "Total training steps: 2\n" + line(2),
    ],
)
def test_a_run_that_says_so_is_finished(fold: Fold, end: str) -> None:
    state = fold(line(1) + "\n" + end)
    assert state.ended is not None
    assert state.ended.status == "finished"


def test_what_fails_after_the_end_is_no_crash(fold: Fold) -> None:
    state = fold(line(1) + "\n'Final validation metrics: None'\n" + HYDRA)
    assert state.ended is not None
    assert state.ended.status == "finished"


def test_a_log_that_merely_stops_proves_no_end(read: Read) -> None:
    assert not ended(read("\n".join([line(1), bar(1, 9, "00:10"), line(2)])))


def test_time_that_the_steps_leave_out_is_added_from_the_bar(fold: Fold) -> None:
    lines = [bar(0, 9, "00:00", "?it/s")]
    for step in range(1, 7):
        minutes, seconds = divmod(13 * step, 60)
        lines += [line(step, 10.0), bar(step, 9, f"{minutes:02}:{seconds:02}")]
    history = fold("\n".join(lines)).history
    assert sum(history.columns["duration_s"]) == pytest.approx(78.0, abs=1.5)
    assert all(closed >= 10.0 for closed in history.columns["duration_s"])


def test_rounding_of_the_bar_changes_nothing(fold: Fold) -> None:
    lines = [bar(0, 9, "00:00", "?it/s")]
    for step, shown in ((1, "00:10"), (2, "00:20"), (3, "00:31")):
        lines += [line(step, 10.4), bar(step, 9, shown)]
    assert list(fold("\n".join(lines)).history.columns["duration_s"]) == [10.4, 10.4, 10.4]


def test_a_validation_that_the_bar_proves_to_be_counted_twice_is_taken_away(fold: Fold) -> None:
    # No phase is logged, so only the bar can tell whether the step time holds the validation.
    text = "step:1 - response/aborted_ratio:0.0 - timing_s/testing:30.0 - timing_s/step:50.0"
    assert fold(text).history.get("duration_s", 0) == 80.0
    bars = f"{bar(0, 9, '00:00', '?it/s')}\n{text}\n{bar(1, 9, '00:50')}"
    assert fold(bars).history.get("duration_s", 0) == 50.0


def test_a_step_is_left_open_for_the_bar_behind_it(read: Read) -> None:
    events = read(
        "\n".join([bar(0, 9, "00:00", "?it/s"), line(1), bar(1, 9, "00:10"), line(2), bar(2, 9, "00:20")])
    )
    told = [(e.step, e.complete) for e in events if isinstance(e, Step)]
    assert told == [(1, False), (1, True), (2, False), (2, True)]


def test_the_bars_of_sft_epochs_are_one_progress(fold: Fold) -> None:
    sft = "step:{} - train/loss:2.0 - train/time(s):9.5"
    progress = fold(
        "\n".join(
            [
                sft.format(1),
                "\rEpoch 1/3:  50%|#####     | 1/2 [00:11<00:11, 11.0s/it]" + sft.format(2),
                "\rEpoch 1/3: 100%|##########| 2/2 [00:21<00:00, 10.5s/it]",
                "\rEpoch 2/3:   0%|          | 0/2 [00:00<?, ?it/s]",
                sft.format(3),
                "\rEpoch 2/3:  50%|#####     | 1/2 [00:10<00:10, 10.0s/it]",
            ]
        )
    ).progress
    assert progress == Progress(step=3, total_steps=6, elapsed_s=31.0, attempt=0)


def test_another_run_in_the_same_log_is_told_and_its_steps_do_not_count_as_progress(
    fold: Fold, read: Read
) -> None:
    def run(name: str, steps: range) -> str:
        head = f"+ python3 -m verl.trainer.main_ppo trainer.project_name=p trainer.experiment_name={name}"
        lines = [
            f"step:{n} - actor/pg_loss:0.1 - timing_s/gen:4.0 - timing_s/step:10.0 - critic/score/mean:0.5"
            for n in steps
        ]
        return "\n".join([head, *lines])

    events = read(run("first", range(5)) + "\n" + run("second", range(1, 4)))
    assert [(e.from_step, e.attempt) for e in events if isinstance(e, Restart)] == [(0, 1)]
    assert [(e.step, e.attempt) for e in events if isinstance(e, Step)][-3:] == [(1, 1), (2, 1), (3, 1)]
    state = fold(run("first", range(5)) + "\n" + run("second", range(1, 4)))
    assert state.info.name == "p/second"
    assert [note for note in state.info.notes if "more than one run" in note and "p/first" in note]
    resumed = fold(run("first", range(1, 5)) + "\n" + run("first", range(3, 6)))
    assert not resumed.info.notes
