"""A real Ray head on this machine: a job that prints steps is followed while it runs, to its end."""

import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rltop.models.event import Ended, Event, SourceStatus
from rltop.models.step import Step
from rltop.monitor.places.mirror import MirrorSource
from rltop.monitor.places.ray_api import Head
from rltop.monitor.places.ray_follow import RayFilling

from ....rayhead import RayHead, ray_head
from .conftest import STEP

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="Ray has no package for this platform: what a head answers is tested with a stand-in alone",
)

JOB = """
import sys
from pathlib import Path
for step in range(1, 6):
    print({line!r} % (step, 100 + step), end="", flush=True)
    if step == 3:
        with open({gate!r}) as gate:
            gate.read()
sys.exit({code})
"""
PATIENCE = 600


@pytest.fixture(scope="module")
def head() -> Iterator[RayHead]:
    with ray_head() as started:
        yield started


def poll_until(source: MirrorSource, events: list[Event], wanted: type[Event], count: int) -> None:
    """Poll until so many events of a kind have come."""
    tick = threading.Event()
    for now in range(PATIENCE):
        events += source.poll(float(now))
        if sum(isinstance(event, wanted) for event in events) >= count:
            return
        tick.wait(0.05)
    raise AssertionError(f"no {count} of {wanted.__name__}: {events[-3:]}")


@pytest.mark.parametrize(("code", "status"), [(0, "finished"), (3, "crashed")])
def test_a_job_of_a_real_head_is_followed_to_its_end(
    head: RayHead, tmp_path: Path, code: int, status: str
) -> None:
    gate, script = tmp_path / "gate", tmp_path / "job.py"
    os.mkfifo(gate)
    script.write_text(JOB.format(line=STEP, gate=str(gate), code=code))
    job = head.submit(f"{sys.executable} {script}")
    filling = RayFilling(Head(head.dashboard, {}), f"ray:{head.dashboard}", None, look_s=0.05)
    source, events = MirrorSource("ray", filling), list[Event]()
    # veRL's steps are held back until the line after them has come.
    poll_until(source, events, Step, 2)
    gate.write_text("go on")
    poll_until(source, events, Ended, 1)
    events += source.close()
    assert sorted({event.step for event in events if isinstance(event, Step)}) == [1, 2, 3, 4, 5]
    end = next(event for event in events if isinstance(event, Ended))
    assert (end.status, end.message.startswith("the Ray job")) == (status, True)
    assert f"ray:{head.dashboard}/{job}" in {e.path for e in events if isinstance(e, SourceStatus)}
