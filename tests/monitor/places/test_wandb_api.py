import gc
import math
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import from_json

from rltop.models.event import Ended, Event, LogLine, SourceStatus
from rltop.models.gpu import GpuSample
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from rltop.monitor.places.wandb_api import named_by
from rltop.monitor.places.wandb_api_client import REFUSED, Client, Trouble
from rltop.monitor.reduce import reduce
from rltop.monitor.sources.tinker.folder import open_run
from rltop.monitor.sources.wandb_local import WandbSource
from rltop.monitor.state import RunState
from rltop.monitor.target import TargetError

from ..sources.wandb_file import history, log_of, run
from .conftest import Follow, Followed
from .wandb_server import KEY, Refusal, ServedRun, WandbServer

VERL = {
    "trainer": {"n_gpus_per_node": 8, "nnodes": 2, "total_training_steps": 40},
    "data": {"max_response_length": 1024},
    "actor_rollout_ref": {"model": {"path": "Qwen/Qwen3-8B"}, "rollout": {"n": 8}},
}


def verl_row(step: int) -> dict[str, Any]:
    return {
        "_step": step,
        "_timestamp": 1.79e9 + 40 * step,
        "_runtime": 40.0 * step,
        "timing_s/step": 40.0,
        "timing_s/gen": 20.0,
        "response_length/mean": 300.0 + step,
        "response_length/max": 900.0,
        "response_length/clip_ratio": 0.25,
        "actor/pg_loss": 0.1,
        "critic/score/mean": 0.5,
        **({"val-core/gsm8k/reward/mean@1": 0.5} if step % 5 == 0 else {}),
    }


def trl_row(step: int) -> dict[str, Any]:
    return {
        "_step": step * 2,
        "_timestamp": 1.79e9 + step,
        "_runtime": 10.0 * step,
        "train/global_step": step,
        "train/loss": 0.5,
        "train/completions/mean_length": 64.0,
        "train/num_tokens": 100 * step,
    }


def slime_row(step: int) -> dict[str, Any]:
    return {
        "_step": step,
        "_timestamp": 1.79e9 + step,
        "rollout/step": step,
        "rollout/response_len/mean": 100.0 + step,
        "rollout/raw_reward": 0.5,
    }


def steps(events: Iterable[Event]) -> list[int]:
    return [event.step for event in events if isinstance(event, Step)]


def statuses(events: Iterable[Event]) -> list[SourceStatus]:
    return [event for event in events if isinstance(event, SourceStatus)]


def state_of(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


@pytest.mark.parametrize(
    ("rows", "config"),
    [
        ([verl_row(n) for n in range(1, 13)], VERL),
        ([trl_row(n) for n in range(1, 13)], {"max_completion_length": 512, "max_steps": 12}),
        ([slime_row(n) for n in range(12)], {"num_rollout": 12, "rollout_batch_size": 4}),
        ([{"_step": n, "mine/len": 3.0, "deep": {"er": n}, "bad": math.nan} for n in range(9)], {}),
        ([{"_step": n, "reward": 0.5} for n in range(3)], {"a": 1}),
    ],
)
def test_a_run_is_told_as_its_file_tells_it(
    follow: Follow,
    wandb_server: WandbServer,
    tmp_path: Path,
    rows: list[dict[str, Any]],
    config: dict[str, Any],
) -> None:
    path = tmp_path / "run-abc.wandb"
    flat = [{**row, **({("deep", "er"): row["deep"]["er"]} if "deep" in row else {})} for row in rows]
    for row in flat:
        row.pop("deep", None)
    path.write_bytes(log_of([run(config), *(history(row) for row in flat)]))
    file = WandbSource(path)
    local = [*file.poll(0.0), *file.close()]
    served = [{key: "NaN" if value != value else value for key, value in row.items()} for row in rows]
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=served, config=config, name="my run")
    remote = follow("team/proj/abc").events

    def told(events: Iterable[Event]) -> list[Any]:
        return [from_json(event.model_dump_json()) for event in events if isinstance(event, Step | Eval)]

    assert told(remote) == told(local)
    assert len(told(local)) >= len(rows)
    assert state_of(remote).info.model_copy(update={"started_at": None}) == state_of(local).info.model_copy(
        update={"started_at": None}
    )


def test_a_tinker_run_is_told_as_its_folder_tells_it(
    follow: Follow, wandb_server: WandbServer, shared_data: Path
) -> None:
    folder = shared_data / "tinker" / "math-rubric-7"
    (source,) = open_run(folder)
    local = [*source.poll(0.0), *source.close()]
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    rows = [{**row, "_step": row.pop("step"), "_timestamp": 1.79e9} for row in map(from_json, lines)]
    config = from_json((folder / "config.json").read_bytes())
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=rows, config=config, name="math-rubric-7")
    remote = follow("team/proj/abc").events

    def told(events: Iterable[Event]) -> list[Any]:
        kept = [event for event in events if isinstance(event, Step | Eval)]
        return [from_json(event.model_dump_json(exclude={"ended_at"})) for event in kept]

    assert told(remote) == told(local)
    unlike: dict[str, Any] = {"started_at": None, "session_id": None, "notes": (), "config": {}}
    assert state_of(remote).info.model_copy(update=unlike) == state_of(local).info.model_copy(update=unlike)


def test_a_growing_run_costs_one_question_a_look_and_three_more_where_there_are_rows(
    follow: Follow, wandb_server: WandbServer
) -> None:
    served = wandb_server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(1), verl_row(2)], config=VERL)
    followed = follow(
        "team/proj/abc",
        lambda: None,
        lambda: None,
        lambda: served.rows.append(verl_row(3)),
        lambda: None,
    )
    assert steps(followed.events) == [1, 2, 3]
    assert followed.asked[:2] == ["Viewer", "Run"]
    rows = ["RunHistoryKeys", "RunParquetHistory", "HistoryPage"]
    assert followed.asked[-7:] == ["Run", "Run", "Run", *rows, "Run", "RunConsoleLogTail"][-7:]
    assert followed.turns.waited_s == [12.0] * 5
    assert state_of(followed.events).info.total_steps == 40


def test_a_long_history_is_read_in_pages_and_told_as_it_comes(
    follow: Follow, wandb_server: WandbServer
) -> None:
    rows = [{"_step": n, "_timestamp": 1.79e9 + n, "reward": 0.5, "loss": 0.25} for n in range(20_000)]
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=rows)
    followed = follow("team/proj/abc")
    assert steps(followed.events) == list(range(20_000))
    assert followed.asked.count("HistoryPage") == 20
    assert followed.lists > 50


def test_rows_that_are_given_twice_are_told_once(follow: Follow, wandb_server: WandbServer) -> None:
    rows = [verl_row(n) for n in (1, 2, 3, 2, 3, 8, 9)]
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=rows, config=VERL)
    followed = follow("team/proj/abc")
    assert steps(followed.events) == [1, 2, 3, 8, 9]
    assert statuses(followed.events)[-1].lines == 5


def test_rows_far_apart_are_not_asked_for_one_by_one(follow: Follow, wandb_server: WandbServer) -> None:
    rows = [{"_step": n * 5000, "_timestamp": 1.79e9 + n, "reward": 0.5} for n in range(100)]
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=rows)
    followed = follow("team/proj/abc")
    assert len(steps(followed.events)) == 100
    assert followed.asked.count("HistoryPage") <= 2


def test_an_outage_is_a_state_and_passes(follow: Follow, wandb_server: WandbServer) -> None:
    served = wandb_server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(1)], config=VERL)

    def fail() -> None:
        wandb_server.down = Refusal(503)

    def refuse() -> None:
        wandb_server.down = Refusal(403)

    def recover() -> None:
        wandb_server.down = None
        served.rows.append(verl_row(2))

    followed = follow("team/proj/abc", fail, refuse, recover)
    told = [(status.state, status.reason) for status in statuses(followed.events)]
    assert told == [
        ("reading", ""),
        ("lost", "W&B does not answer (503), trying again in 5 s"),
        ("ended", "team/proj/abc: not shown to this W&B login (no access), trying again in 10 s"),
        ("reading", ""),
    ]
    assert followed.turns.waited_s == [12.0, 5.0, 10.0, 12.0]
    assert steps(followed.events) == [1, 2]


def test_a_history_that_breaks_off_goes_on_where_it_was(follow: Follow, wandb_server: WandbServer) -> None:
    rows = [{"_step": n, "reward": 0.5, "loss": 0.25} for n in range(3500)]
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=rows)
    wandb_server.breaks_after = 2
    followed = follow("team/proj/abc", lambda: None)
    assert steps(followed.events) == list(range(3500))
    assert [status.state for status in statuses(followed.events)] == ["lost", "reading"]


def test_being_asked_to_wait_is_waited_for(follow: Follow, wandb_server: WandbServer) -> None:
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(1)], config=VERL)
    followed = follow("team/proj/abc", lambda: wandb_server.refusals.append(Refusal(429, retry_after=1)))
    assert [status.state for status in statuses(followed.events)] == ["reading"]
    wandb_server.down = Refusal(429, retry_after=0)
    followed = follow("team/proj/abc")
    (status,) = statuses(followed.events)
    assert (status.state, status.reason) == ("lost", "W&B does not answer (429), trying again in 5 s")


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (Refusal(401), "W&B does not accept the key: run `wandb login`, or set WANDB_API_KEY"),
        (Refusal(404), "no W&B server at this address (404)"),
    ],
)
def test_what_will_not_pass_is_one_line_and_the_end(
    follow: Follow, wandb_server: WandbServer, refusal: Refusal, reason: str
) -> None:
    wandb_server.down = refusal
    followed = follow("team/proj/abc", lambda: None)
    assert [(status.state, status.reason) for status in statuses(followed.events)] == [("denied", reason)]
    assert followed.turns.waited_s == []


def test_a_run_that_is_not_there_is_answered_with_those_that_are(
    follow: Follow, wandb_server: WandbServer
) -> None:
    for n in range(7):
        wandb_server.runs[f"team/proj/r{n}"] = ServedRun(
            name=f"grpo {n}", created=f"2026-11-2{n}T00:00:00", state="finished"
        )
    reason = statuses(follow("team/proj/r9").events)[0].reason
    assert reason.startswith("team/proj/r9: no such run; the newest are r6 (grpo 6, finished), r5 (grpo 5")
    assert "r2 (" in reason
    assert "r1 (" not in reason
    assert statuses(follow("team/none/r9").events)[0].reason == (
        "team/none: no such W&B project, or not shown to this login"
    )
    assert "names a project" in statuses(follow("team/proj/").events)[0].reason


def test_no_access_is_told(follow: Follow, wandb_server: WandbServer) -> None:
    wandb_server.runs["team/proj/r1"] = ServedRun()
    wandb_server.denied.add("team/proj/r1")
    (status,) = statuses(follow("team/proj/r1").events)
    assert status.state == "denied"
    assert status.reason.startswith("team/proj/r1: not shown to this W&B login")


def test_a_run_that_is_deleted_while_it_is_followed_keeps_what_was_read(
    follow: Follow, wandb_server: WandbServer
) -> None:
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(1)], config=VERL)
    followed = follow("team/proj/abc", wandb_server.runs.clear)
    last = statuses(followed.events)[-1]
    assert (last.state, last.reason) == ("ended", "team/proj/abc: no such run, trying again in 5 s")
    assert last.lines == 1


@pytest.mark.parametrize(
    ("state", "ended"),
    [("finished", "finished"), ("crashed", "crashed"), ("failed", "crashed"), ("killed", "crashed")],
)
def test_the_end_is_told(follow: Follow, wandb_server: WandbServer, state: str, ended: str) -> None:
    served = wandb_server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(40)], config=VERL)
    followed = follow("team/proj/abc", lambda: setattr(served, "state", state))
    assert [event.status for event in followed.events if isinstance(event, Ended)] == [ended]
    assert statuses(followed.events)[-1].state == "ended"
    assert followed.turns.waited_s == [12.0, 60.0]


def test_finished_before_its_last_step_is_not_believed(follow: Follow, wandb_server: WandbServer) -> None:
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(7)], config=VERL, state="finished")
    followed = follow("team/proj/abc")
    assert not [event for event in followed.events if isinstance(event, Ended)]
    (line,) = [event for event in followed.events if isinstance(event, LogLine)]
    assert "at step 7 of 40" in line.text
    (status,) = statuses(followed.events)
    assert status.state == "ended"
    assert status.notes == (line.text,)


def test_a_total_that_rows_tell_is_held_against_the_end_too(
    follow: Follow, wandb_server: WandbServer
) -> None:
    row = {"_step": 3, "progress/done_frac": 0.04, "env/all/total_episodes": 4, "time/total": 9.0}
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=[row], state="finished")
    followed = follow("team/proj/abc")
    assert state_of(followed.events).info.total_steps == 100
    assert not [event for event in followed.events if isinstance(event, Ended)]


def test_a_run_that_goes_on_after_its_end_has_not_ended(follow: Follow, wandb_server: WandbServer) -> None:
    served = wandb_server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(7)], config=VERL, state="crashed")

    def resume() -> None:
        served.state = "running"
        served.rows.append(verl_row(8))

    followed = follow("team/proj/abc", resume)
    assert state_of(followed.events).ended is None
    assert statuses(followed.events)[-1].state == "reading"


def test_a_run_that_waits_for_a_machine_is_waited_for(follow: Follow, wandb_server: WandbServer) -> None:
    wandb_server.runs["team/proj/abc"] = ServedRun(state="pending")
    (status,) = statuses(follow("team/proj/abc").events)
    assert (status.state, status.reason) == ("waiting", "wandb:team/proj/abc: pending, says W&B")


def test_gpus_stand_between_the_steps_that_they_were_read_in(
    follow: Follow, wandb_server: WandbServer
) -> None:
    def readings(at: float, watts: float) -> dict[str, Any]:
        return {
            "_timestamp": at,
            "system.gpu.0.gpu": 90.0,
            "system.gpu.0.powerWatts": watts,
            "system.gpu.0.memoryAllocatedBytes": 40e9,
            "system.gpu.1.gpu/l:node2": 80.0,
            "system.cpu": 5.0,
        }

    machine = {
        "host": "node1",
        "gpu": "NVIDIA H100",
        "gpu_count": 1,
        "gpu_nvidia": [{"name": "NVIDIA H100", "memoryTotal": "80000000000"}],
    }
    served = wandb_server.runs["team/proj/abc"] = ServedRun(
        rows=[verl_row(1), verl_row(2)],
        config=VERL,
        environments=[
            {**machine, "startedAt": "2026-11-29T08:00:00Z"},
            {"host": "node0", "gpu": "NVIDIA A100", "gpu_count": 1, "startedAt": "2026-11-28T08:00:00Z"},
        ],
        system=[readings(1.79e9 + 30, 650.0), readings(1.79e9 + 60, 600.0)],
    )
    followed = follow("team/proj/abc", lambda: served.system.append(readings(1.79e9 + 90, 500.0)))
    seen = [event for event in followed.events if isinstance(event, GpuSample | Step)]
    assert [event.host if isinstance(event, GpuSample) else event.step for event in seen] == [
        *("node1", "node2", 1, "node1", "node2", 2),
        *("node1", "node2"),
    ]
    last = seen[-2]
    assert isinstance(last, GpuSample)
    assert last.at == 1.79e9 + 90
    (gpu,) = last.gpus
    assert (gpu.name, gpu.util, gpu.power_w, gpu.mem_used_gb, gpu.mem_total_gb) == (
        "NVIDIA H100",
        *(90, 500, 40, 80),
    )
    assert state_of(followed.events).info.gpu_type == "NVIDIA H100"


def test_a_failure_on_the_console_is_told_once(follow: Follow, wandb_server: WandbServer) -> None:
    said = ["step:1", "Traceback (most recent call last):", "ValueError: no", "next"]
    served = wandb_server.runs["team/proj/abc"] = ServedRun(
        rows=[verl_row(1)], config=VERL, console=list(said)
    )

    def fail() -> None:
        served.state = "failed"

    followed = follow("team/proj/abc", fail)
    lines = [event.text for event in followed.events if isinstance(event, LogLine)]
    assert sum("ValueError: no" in line for line in lines) == 1


def test_a_configuration_that_changes_is_taken_up(follow: Follow, wandb_server: WandbServer) -> None:
    served = wandb_server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(1)], config=VERL)
    more = {**VERL, "trainer": {**VERL["trainer"], "total_training_steps": 80}}
    followed = follow("team/proj/abc", lambda: setattr(served, "config", more))
    assert state_of(followed.events).info.total_steps == 80
    assert sum(isinstance(event, RunInfo) and bool(event.config) for event in followed.events) < 6


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("wandb:team/proj/abc", ("team", "proj", "abc", None)),
        ("wandb:team/proj/runs/abc", ("team", "proj", "abc", None)),
        ("wandb:team/proj", ("team", "proj", "", None)),
        ("https://wandb.ai/team/proj/runs/abc", ("team", "proj", "abc", "https://api.wandb.ai")),
        ("wandb:https://wandb.ai/team/proj/runs/abc", ("team", "proj", "abc", "https://api.wandb.ai")),
        (
            "https://wandb.ai/team/my%20proj/runs/abc/overview?nw=x#y",
            ("team", "my proj", "abc", "https://api.wandb.ai"),
        ),
        ("https://api.wandb.ai/team/proj/runs/abc", ("team", "proj", "abc", "https://api.wandb.ai")),
        (
            "https://forge.coreweave.com/wandb/team/proj/runs/abc",
            ("team", "proj", "abc", "https://api.forge.coreweave.com"),
        ),
        ("https://wandb.ai/team/proj/workspace?nw=x", ("team", "proj", "", "https://api.wandb.ai")),
        ("http://wandb.lab:8080/team/proj/runs/abc", ("team", "proj", "abc", "http://wandb.lab:8080")),
        ("https://me:secret@wandb.lab/team/proj/runs/a", ("team", "proj", "a", "https://wandb.lab")),
    ],
)
def test_a_target_names_a_run(target: str, named: tuple[str, str, str, str | None]) -> None:
    assert named_by(target) == named


@pytest.mark.parametrize(
    "target",
    [
        "wandb:",
        "wandb:team",
        "wandb:a/b/c/d",
        "wandb:a/b/c/d/e",
        "https://wandb.ai/",
        "https://wandb.ai/team",
        "https://wandb.ai/team/proj/sweeps/abc",
        "https://[::1/team/proj/runs/x",
        "https:///team/proj/runs/x",
        "https://host:x/team/proj/runs/x",
    ],
)
def test_other_words_name_none(target: str) -> None:
    with pytest.raises(TargetError, match=r"wandb:|address"):
        named_by(target)


def test_a_password_in_an_address_is_not_shown() -> None:
    with pytest.raises(TargetError) as told:
        named_by("https://me:secret@wandb.lab/team")
    assert str(told.value).startswith("https://wandb.lab/team: ")


def test_the_server_that_w_and_b_is_set_to_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_BASE_URL", "https://wandb.lab/api/")
    assert named_by("https://wandb.lab/team/proj/runs/a").base_url == "https://wandb.lab/api"
    assert named_by("https://wandb.ai/team/proj/runs/a").base_url == "https://api.wandb.ai"


def test_a_server_that_is_not_there_is_named_and_tried_again(wandb_server: WandbServer) -> None:
    with pytest.raises(Trouble, match=r"^W&B cannot be reached \(.*refused\)$") as told:
        Client("team", "proj", "http://127.0.0.1:9").look("abc")
    assert told.value.passing


def test_a_key_is_never_shown(wandb_server: WandbServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "not-a-key")
    with pytest.raises(Trouble) as told:
        Client("team", "proj", wandb_server.url).look("abc")
    assert told.value.reason == f"{REFUSED} (it is malformed)"
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    wandb_server.runs["team/proj/abc"] = ServedRun()
    wandb_server.refusals.extend([Refusal(200, errors=[f"what is {KEY}?"])] * 2)
    with pytest.raises(Trouble) as told:
        Client("team", "proj", wandb_server.url).look("abc")
    assert "what is …?" in told.value.reason


NUMBER = st.floats() | st.integers(-(2**70), 2**70)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | st.sampled_from(["NaN", "Infinity", "-Infinity", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = (
    "_step",
    "_timestamp",
    "_runtime",
    "train/global_step",
    "timing_s/step",
    "system.gpu.0.gpu",
    "gpu",
    "e",
)
ROWS = st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6), max_size=4)


@settings(max_examples=8, deadline=None)
@given(rows=ROWS, config=st.dictionaries(st.text(max_size=8), JSON, max_size=3), system=ROWS, odd=JSON)
def test_no_answer_makes_it_raise(
    wandb_service: WandbServer,
    rows: list[dict[str, Any]],
    config: dict[str, Any],
    system: list[dict[str, Any]],
    odd: object,
) -> None:
    served = ServedRun(
        rows=rows, config=config, system=system, environments=[{"gpu_nvidia": odd, "gpu": odd}]
    )
    wandb_service.runs["team/proj/odd"] = served
    Followed(wandb_service, "team/proj/odd", ())


def helpers() -> list[int]:
    """The processes that W&B's package has started here."""
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        found += [int(pid) for pid in (task / "children").read_text().split()]
    return [pid for pid in found if b"wandb" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # nobody waits for a process that was killed
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds its children as Linux tells them")
def test_a_helper_process_that_dies_is_replaced(follow: Follow, wandb_server: WandbServer) -> None:
    served = wandb_server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(1)], config=VERL)

    def die() -> None:
        (pid,) = helpers()
        os.kill(pid, signal.SIGKILL)
        served.rows.append(verl_row(2))

    followed = follow("team/proj/abc", die, lambda: None)
    assert [status.state for status in statuses(followed.events)] == ["reading", "lost", "reading"]
    assert "helper process" in statuses(followed.events)[1].reason
    assert steps(followed.events) == [1, 2]
    gc.collect()


def test_the_environment_is_left_as_it_was(follow: Follow, wandb_server: WandbServer) -> None:
    before = dict(os.environ)
    wandb_server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(1)], config=VERL)
    assert steps(follow("team/proj/abc").events) == [1]
    assert dict(os.environ) == before
