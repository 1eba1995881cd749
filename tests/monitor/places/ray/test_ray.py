"""Jobs of a Ray cluster."""

from pathlib import Path

import pytest

from rltop.models.event import Ended, Event
from rltop.models.run import RunInfo
from rltop.models.step import Step
from rltop.monitor.places import open_place, place_of
from rltop.monitor.places.mirror import MirrorSource
from rltop.monitor.places.ray import address_of, headers_of
from rltop.monitor.target import TargetError

from .conftest import STEP, Dashboard, Follow, statuses

LOG = "job-driver-job1.log"


def steps_of(count: int, first: int = 1) -> bytes:
    return "".join(STEP % (step, 100 + step) for step in range(first, first + count)).encode()


def source_of(target: str) -> MirrorSource:
    place = place_of(target)
    assert place is not None
    (source,) = open_place(place, target)
    assert isinstance(source, MirrorSource)
    return source


def read_all(source: MirrorSource) -> list[Event]:
    events = source.poll(0.0)
    while source.more:
        events += source.poll(0.0)
    return events + source.close()


@pytest.mark.parametrize(
    ("target", "base", "job"),
    [
        ("ray:http://head:8265", "http://head:8265", None),
        ("ray:http://head:8265/", "http://head:8265", None),
        ("ray:http://head:8265/raysubmit_x", "http://head:8265", "raysubmit_x"),
        ("ray:https://proxy/cluster/my%20job", "https://proxy/cluster", "my job"),
        ("ray:https://proxy/cluster/", "https://proxy/cluster", None),
        ("ray:http://head:8265/#/jobs/raysubmit_x", "http://head:8265", "raysubmit_x"),
        ("ray:http://[::1]:8265/j", "http://[::1]:8265", "j"),
        ("ray:", "http://env:1", None),
        ("ray:raysubmit_x", "http://env:1", "raysubmit_x"),
    ],
)
def test_a_target_names_a_dashboard_and_perhaps_a_job(target: str, base: str, job: str | None) -> None:
    assert address_of(target, {"RAY_ADDRESS": "http://env:1/"}) == (base, job)


def test_without_an_address_it_is_the_head_on_this_machine() -> None:
    assert address_of("ray:", {}) == ("http://127.0.0.1:8265", None)
    both = {"RAY_API_SERVER_ADDRESS": "https://api", "RAY_ADDRESS": "http://env:1"}
    assert address_of("ray:x", both) == ("https://api", "x")


@pytest.mark.parametrize(
    "target",
    ["ray:ftp://head/x", "ray:http://", "ray:http://head:99999/x", "ray:http://a b/x", "ray:http://h/\x1b"],
)
def test_what_is_no_address_is_one_line(target: str) -> None:
    with pytest.raises(TargetError, match="not the address of a dashboard") as error:
        address_of(target, {})
    assert str(error.value).isprintable()


def test_an_address_of_the_wrong_port_is_told_apart() -> None:
    with pytest.raises(TargetError, match=r"RAY_ADDRESS=10\.0\.0\.1:6379: not the address of a dashboard"):
        address_of("ray:", {"RAY_ADDRESS": "10.0.0.1:6379"})


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(TargetError) as error:
        address_of("ray:http://me:hunter2@head/x", {})
    assert "hunter2" not in str(error.value)


def test_headers_are_had_as_ray_has_them(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("from-file\n")
    assert headers_of({}) == {}
    assert headers_of({"RAY_JOB_HEADERS": '{"X-A": "b"}'}) == {"X-A": "b"}
    assert headers_of({"RAY_AUTH_TOKEN": "t"}) == {"Authorization": "Bearer t"}
    assert headers_of({"RAY_AUTH_TOKEN_PATH": str(token)}) == {"Authorization": "Bearer from-file"}
    assert headers_of({"RAY_AUTH_TOKEN": "t", "RAY_AUTH_MODE": "disabled"}) == {}
    own = {"RAY_JOB_HEADERS": '{"authorization": "mine"}', "RAY_AUTH_TOKEN": "t"}
    assert headers_of(own) == {"authorization": "mine"}
    for bad in ("{", "[]", '{"A": "b\\nC: d"}'):
        with pytest.raises(TargetError, match="RAY_JOB_HEADERS"):
            headers_of({"RAY_JOB_HEADERS": bad})
    with pytest.raises(TargetError, match="holds no token"):
        headers_of({"RAY_AUTH_TOKEN_PATH": str(tmp_path / "none")})


def test_a_job_reads_like_a_log_and_ends_as_the_head_says(dashboard: Dashboard) -> None:
    dashboard.add("job1", "SUCCEEDED", message="Job finished successfully.", end_time=1_700_000_900_000)
    dashboard.logs[LOG] = steps_of(3)
    target = f"ray:{dashboard.url}/job1"
    events = read_all(source_of(target))
    assert [event.step for event in events if isinstance(event, Step)] == [1, 2, 3]
    assert events[-1] == Ended(
        status="finished", at=1_700_000_900.0, message="the Ray job succeeded: Job finished successfully."
    )
    assert {status.path for status in statuses(events)} == {target}
    infos = [event for event in events if isinstance(event, RunInfo)]
    assert (infos[0].name, infos[0].started_at) == ("job1", 1_700_000_000.0)
    assert not any(event.model_dump_json().count("driver.log") for event in events)


def test_a_running_job_is_followed_without_fetching_all_again(dashboard: Dashboard, follow: Follow) -> None:
    dashboard.add("job1")
    dashboard.logs[LOG] = steps_of(200)
    run = follow("job1")
    run.look()
    for step in range(201, 204):
        dashboard.logs[LOG] += steps_of(1, step)
        run.look()
    assert run.log() == dashboard.logs[LOG]
    assert sum("lines=-1" in asked for asked in dashboard.asked) == 1


@pytest.mark.parametrize(
    ("status", "told"), [("FAILED", "crashed"), ("STOPPED", "finished"), ("SUCCEEDED", "finished")]
)
def test_each_end_is_told_after_the_last_line(
    dashboard: Dashboard, follow: Follow, status: str, told: str
) -> None:
    dashboard.add(
        "job1", status, message="Job entrypoint command failed\nTraceback", end_time=1_700_000_900_000
    )
    dashboard.logs[LOG] = steps_of(1)
    run = follow("job1")
    end = run.look()[-1]
    assert isinstance(end, Ended)
    assert end.status == told
    assert end.message == f"the Ray job {status.lower()}: Job entrypoint command failed"
    assert run.filling.target is not None
    assert run.filling.target.stat().st_mtime == pytest.approx(1_700_000_900)


def test_the_one_job_that_runs_need_not_be_named(dashboard: Dashboard, follow: Follow) -> None:
    dashboard.add("old", "SUCCEEDED")
    dashboard.add("job1")
    dashboard.logs[LOG] = steps_of(1)
    run = follow()
    run.look()
    assert run.filling.shown[1] == f"ray:{dashboard.url}/job1"


def test_of_several_jobs_one_has_to_be_named(dashboard: Dashboard, follow: Follow) -> None:
    dashboard.add("a", entrypoint="WANDB_API_KEY=secret X='y z' python3 -m verl.trainer.main_ppo")
    dashboard.add("b", entrypoint="x" * 99)
    (status,) = statuses(follow().look())
    assert status.source == "pending"
    assert f"2 jobs are running; name one: ray:{dashboard.url}/b (RUNNING since 2023-11-14" in status.reason
    assert "python3 -m verl.trainer.main_ppo" in status.reason
    assert "secret" not in status.reason
    assert "x" * 70 not in status.reason


def test_a_cluster_without_jobs_is_waited_for(dashboard: Dashboard, follow: Follow) -> None:
    run = follow()
    (status,) = statuses(run.look())
    assert (status.state, status.reason) == ("waiting", f"ray:{dashboard.url}: no jobs yet")
    dashboard.add("job1")
    dashboard.logs[LOG] = steps_of(1)
    run.look()
    assert run.log() == steps_of(1)


def test_a_job_that_waits_says_why(dashboard: Dashboard, follow: Follow) -> None:
    dashboard.add("job1", "PENDING", driver_node_id=None, message="waiting for 8 GPUs")
    (status,) = statuses(follow("job1").look())
    assert status.reason == f"ray:{dashboard.url}/job1: the job is PENDING: waiting for 8 GPUs"


def test_a_job_that_nobody_knows_is_one_line(dashboard: Dashboard, follow: Follow) -> None:
    run = follow("nope")
    (status,) = statuses(run.look())
    assert (status.state, status.reason) == (
        "denied",
        f"ray:{dashboard.url}/nope: Job nope does not exist (404)",
    )


def test_an_older_head_gives_its_logs_whole(dashboard: Dashboard, follow: Follow) -> None:
    dashboard.old = True
    dashboard.add("job1")
    dashboard.logs[LOG] = steps_of(2)
    run = follow("job1")
    run.look()
    dashboard.logs[LOG] += steps_of(1, 3)
    run.look()
    assert run.log() == dashboard.logs[LOG]


def test_a_plain_driver_is_read_through_the_actor_that_prints(dashboard: Dashboard, follow: Follow) -> None:
    dashboard.add("02000000", submission_id=None, job_id="02000000", driver_node_id=None)
    dashboard.actors = [
        {"actor_id": "w", "class_name": "WorkerDict", "job_id": "02000000"},
        {"actor_id": "t", "class_name": "TaskRunner", "job_id": "02000000"},
    ]
    dashboard.logs["t"] = steps_of(2)
    run = follow("02000000")
    run.look()
    assert run.log() == steps_of(2)


def test_a_plain_driver_of_another_kind_is_named(dashboard: Dashboard, follow: Follow) -> None:
    dashboard.add("02000000", submission_id=None, job_id="02000000", driver_node_id=None)
    (status,) = statuses(follow("02000000").look())
    assert "not started by `ray job submit`" in status.reason


def test_a_log_that_is_gone_does_not_hide_the_end(dashboard: Dashboard, follow: Follow) -> None:
    dashboard.add(
        "job1", "FAILED", driver_node_id="gone", message="node died", submission_id=None, job_id="job1"
    )
    dashboard.actors = [{"actor_id": "t", "class_name": "TaskRunner", "job_id": "job1"}]
    run = follow("job1")
    told = [run.look() for _ in range(3)]
    assert "its log cannot be had any more" in statuses(told[-1])[-1].reason
    assert isinstance(told[-1][-1], Ended)


def test_a_dashboard_that_dies_is_a_state_and_all_goes_on_after_it(
    dashboard: Dashboard, follow: Follow
) -> None:
    dashboard.add("job1")
    dashboard.logs[LOG] = steps_of(30)
    run = follow("job1")
    run.look()
    dashboard.status = 503
    (lost,) = statuses(run.look())
    assert (lost.source, lost.state) == ("ray", "lost")
    run.look()
    run.look()
    assert run.pause.waits[-2:] == [1.0, 2.0]
    dashboard.status = 200
    dashboard.logs[LOG] += steps_of(500, 31)
    (back,) = statuses(run.look())
    assert back.state == "reading"
    assert run.log() == dashboard.logs[LOG]


def test_nobody_there_is_one_line(follow: Follow, dashboard: Dashboard) -> None:
    events = read_all(source_of("ray:http://127.0.0.1:1/x"))
    (status,) = statuses(events)
    assert status.state == "denied"
    assert status.reason.startswith("ray:http://127.0.0.1:1/x: refuses the connection")


@pytest.mark.parametrize("code", [401, 403, 302])
def test_whoever_has_to_log_in_is_told_how_and_no_header_goes_elsewhere(
    dashboard: Dashboard, follow: Follow, code: int
) -> None:
    dashboard.status = code
    run = follow("job1", {"Authorization": "Bearer hush"})
    (status,) = statuses(run.look())
    assert "RAY_JOB_HEADERS" in status.reason
    assert "hush" not in status.reason
    assert dashboard.headers[0]["Authorization"] == "Bearer hush"
    run.look()
    assert run.pause.waits == [30.0]


def test_something_else_on_that_port_is_one_line(dashboard: Dashboard, follow: Follow) -> None:
    dashboard.jobs["job1"] = {"hello": "world"}
    (status,) = statuses(follow("job1").look())
    assert status.reason == f"ray:{dashboard.url}/job1: does not answer like a Ray dashboard"
