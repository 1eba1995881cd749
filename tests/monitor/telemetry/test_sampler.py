"""The worker that all backends share: nobody waits, and what is old says so."""

import threading
from collections.abc import Iterator

from rltop.models.gpu import Gpu, GpuSample
from rltop.monitor.telemetry.sampler import Found, Sampler
from rltop.monitor.telemetry.source import GpuSource

START = 1_700_000_000.0


def sample(host: str, at: float, util: float = 50.0) -> GpuSample:
    return GpuSample(at=at, host=host, backend="list", gpus=(Gpu(index=0, util=util),))


class ListedProbe:
    """Finds what a list says, one entry a look; a look beyond its end waits to be cut off."""

    who = "the list"

    def __init__(self, *found: Found) -> None:
        self._found: Iterator[Found] = iter(found)
        self.cut_off = threading.Event()
        self.closed = threading.Event()
        self.wanted: list[bool] = []

    def look(self, now: float, want_tensor: bool) -> Found:
        self.wanted.append(want_tensor)
        found = next(self._found, None)
        if found is None:
            self.cut_off.wait(10)
            return Found((), "cut off")
        return found

    def cut(self) -> None:
        self.cut_off.set()

    def close(self) -> None:
        self.closed.set()


def look(sampler: Sampler, now: float) -> tuple[object, ...]:
    sampler.latest(now)
    assert sampler.wait(10)
    return sampler.latest(now)


def test_a_host_that_is_missing_from_an_answer_keeps_its_values_and_says_their_age() -> None:
    probe = ListedProbe(
        Found((sample("a", START), sample("b", START))), Found((sample("a", START + 10),))
    )  # fmt: skip
    sampler = Sampler(probe)
    assert [each.note for each in sampler.latest(START)] == []
    first = look(sampler, START)
    second = look(sampler, START + 10)
    sampler.close()
    assert first == (sample("a", START), sample("b", START))
    fresh, stale = second
    assert fresh == sample("a", START + 10)
    assert isinstance(stale, GpuSample)
    assert (stale.at, stale.stale_s, stale.gpus) == (START, 10.0, sample("b", START).gpus)
    assert stale.note == "stale 10 s: missing from what the list tells"


def test_a_look_that_fails_leaves_the_last_values_with_their_age_and_the_reason() -> None:
    sampler = Sampler(ListedProbe(Found((sample("a", START),)), Found((), "connection refused")))
    look(sampler, START)
    (stale,) = look(sampler, START + 8)
    sampler.close()
    assert isinstance(stale, GpuSample)
    assert (stale.note, stale.stale_s) == ("stale 8 s: connection refused", 8.0)


def test_what_hangs_for_half_a_minute_is_cut_off() -> None:
    probe = ListedProbe(Found((sample("a", START),)))
    sampler = Sampler(probe)
    look(sampler, START)
    sampler.latest(START + 2)
    sampler.latest(START + 31)
    assert not probe.cut_off.is_set()
    (stale,) = sampler.latest(START + 32)
    assert probe.cut_off.is_set()
    assert stale.note == "stale 32 s: the list does not answer"
    assert sampler.wait(10)
    assert sampler.reason(START + 33) == "cut off"
    sampler.close()


def test_a_backend_that_asks_for_a_pause_is_left_alone_for_so_long() -> None:
    probe = ListedProbe(Found((), "no driver", 60.0), Found((sample("a", START + 60),)))
    sampler = Sampler(probe)
    assert look(sampler, START) == ()
    assert look(sampler, START + 59) == ()
    assert sampler.reason(START + 59) == "no driver"
    assert look(sampler, START + 60) == (sample("a", START + 60),)
    sampler.close()


def test_closing_lets_go_of_a_backend_that_hangs() -> None:
    probe = ListedProbe()
    sampler = Sampler(probe)
    sampler.latest(START)
    sampler.close()
    sampler.close()
    assert probe.closed.wait(10)


def test_whether_tensor_activity_is_wanted_reaches_the_backend() -> None:
    probe = ListedProbe(Found((sample("a", START),)), Found((sample("a", START + 2),)))
    source = GpuSource([sampler := Sampler(probe)])
    look(sampler, START)
    source.want_tensor = True
    look(sampler, START + 2)
    source.close()
    assert probe.wanted == [False, True]


def test_a_source_tells_a_reading_that_only_grows_older_every_five_seconds() -> None:
    probe = ListedProbe(Found((sample("a", START),)))
    source = GpuSource([sampler := Sampler(probe)])
    source.poll(START)
    look(sampler, START)
    told = {seconds: len(source.poll(START + seconds)) for seconds in (1, 3, 8, 9, 12, 13, 14, 18)}
    source.close()
    assert told == {1: 1, 3: 0, 8: 1, 9: 0, 12: 0, 13: 1, 14: 0, 18: 1}
