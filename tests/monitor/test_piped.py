"""A run that is piped in."""

import os

from rltop.models.event import SourceStatus
from rltop.models.step import Step
from rltop.monitor.piped import PipedSource

ROW = b'{"step": %d, "progress/batch": %d, "progress/done_frac": 0.5, "env/all/total_ac_tokens": 10}\n'


def test_a_piped_run_is_recognised_by_what_comes_and_ends_with_the_pipe() -> None:
    reader, writer = os.pipe()
    source = PipedSource(reader)
    waiting = source.poll(0.0)
    assert isinstance(waiting[-1], SourceStatus)
    assert (waiting[-1].path, waiting[-1].state) == ("-", "waiting")
    os.write(writer, ROW % (0, 0) + (ROW % (1, 1))[:20])
    steps = [event.step for event in source.poll(1.0) if isinstance(event, Step)]
    assert steps == [0]
    os.write(writer, (ROW % (1, 1))[20:-1])
    os.close(writer)
    events = source.poll(2.0)
    assert [event.step for event in events if isinstance(event, Step)] == [1]
    assert isinstance(events[-1], SourceStatus)
    assert (events[-1].path, events[-1].state) == ("-", "ended")
    assert source.poll(3.0) == source.close() == []
    os.close(reader)
