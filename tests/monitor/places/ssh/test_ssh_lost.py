"""Connections that are lost, refused or silent."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import FarSide, Follower, statuses

Follow = Callable[..., Follower]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    deaths=st.lists(st.integers(0, 60_000), max_size=6),
    sizes=st.lists(st.integers(0, 30_000), min_size=1, max_size=4),
)
def test_whenever_connections_break_all_is_brought_once(
    far: FarSide, follow: Follow, deaths: list[int], sizes: list[int]
) -> None:
    data = [bytes((number + place) % 251 for place in range(size)) for number, size in enumerate(sizes)]
    logs = [far.path / f"log{number}.log" for number in range(2)]
    for log in logs:
        log.write_bytes(b"")
    far.die_after(deaths)
    run = follow(f"ssh://host{far.path}")
    for piece in data:
        for log in logs:
            with log.open("ab") as file:
                file.write(piece)
        run.look()
    for _ in range(len(deaths) + 2):
        run.look()
    for log in logs:
        assert run.here(log.name) == log.read_bytes() == b"".join(data)
    run.close()


def test_a_lost_connection_is_a_state_and_all_goes_on_after_it(far: FarSide, follow: Follow) -> None:
    log = far.path / "train.log"
    log.write_bytes(b"one\n")
    far.die_after([4000])
    run = follow(f"ssh://host{far.path}")
    while not (told := statuses(run.look())):
        pass
    assert told[0].state == "lost"
    assert "the connection to host has ended; next try in 1 s" in told[0].reason
    with log.open("ab") as file:
        file.write(b"two\n")
    (again,) = statuses(run.look())
    assert (again.state, again.reason) == ("reading", "")
    assert run.here("train.log") == b"one\ntwo\n"


def test_further_tries_come_later_each_time(far: FarSide, follow: Follow) -> None:
    far.refuse("ssh: connect to host host port 22: Connection refused\n")
    run = follow("ssh://host/x")
    reasons = [status.reason for _ in range(8) for status in statuses(run.look())]
    assert reasons == ["ssh://host/x: ssh: connect to host host port 22: Connection refused"]
    assert run.pause.waits == [1, 2, 4, 8, 16, 32, 60]


def test_whoever_is_turned_away_knocks_seldom(far: FarSide, follow: Follow) -> None:
    far.refuse("me@host: Permission denied (publickey,password).\n")
    run = follow("ssh://host/x")
    (status,) = statuses(run.look())
    assert (status.state, "rltop asks for no password" in status.reason) == ("denied", True)
    for _ in range(6):
        run.look()
    assert run.pause.waits == [30, 60, 120, 240, 480, 600]
    far.refuse(None)
    (far.path / "train.log").write_bytes(b"x")
    (status,) = statuses(run.look())
    assert (status.source, status.state) == ("pending", "waiting")


def test_a_silent_far_side_is_not_waited_for_without_end(far: FarSide, follow: Follow) -> None:
    far.be_silent()
    (status,) = statuses(follow("ssh://host/x", silence_s=0.25).look())
    assert status.reason == "ssh://host/x: no answer from host for 0.25 s"


def test_no_ssh_is_one_line(tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (status,) = statuses(follow("ssh://host/x").look())
    assert status.reason == "ssh://host/x: no `ssh` on the PATH: install OpenSSH's client"


def test_the_far_shell_ends_with_the_connection(far: FarSide, follow: Follow) -> None:
    (far.path / "train.log").write_bytes(b"x")
    run = follow(f"ssh://host{far.path}")
    run.look()
    run.close()
    with pytest.raises(ProcessLookupError):
        os.kill(far.pid, 0)
