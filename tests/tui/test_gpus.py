"""GPUs on screen, from one to a thousand."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rltop.models.gpu import Gpu, GpuProcess
from rltop.tui.app import RltopApp
from rltop.tui.gpus.grid import LOST, SILENT, laid_out
from rltop.tui.gpus.metric import METRICS, Node, nodes_of, short_names
from rltop.tui.gpus.rows import flags_of
from rltop.tui.gpus.summary import worst
from rltop.tui.lines import Line, cells

from . import frames
from .runners import Frames, screen_lines, until

BUSY = METRICS[0]


def plain(lines: list[Line]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


def nodes(hosts: int, each: int = 8, util: float = 90.0) -> list[Node]:
    gpus = tuple(Gpu(index=index, util=util) for index in range(each))
    return [Node(f"n{number:03}", gpus) for number in range(hosts)]


@pytest.mark.parametrize(
    ("hosts", "height", "shown"),
    [(1, 9, "GPU  "), (8, 9, "node"), (64, 11, "000 "), (128, 10, "⣶")],
)
def test_the_largest_layout_that_fits_is_taken(hosts: int, height: int, shown: str) -> None:
    lines = plain(laid_out(nodes(hosts), BUSY, 78, height))
    assert len(lines) <= height
    assert any(line.startswith(shown) for line in lines)


def test_a_thousand_gpus_have_a_cell_for_each_two_on_the_smallest_screen() -> None:
    lines = plain(laid_out(nodes(128), BUSY, 78, 11))
    assert sum(len(line.replace(" ", "")) for line in lines) == 512


def test_what_does_not_fit_even_as_a_cell_a_node_is_counted() -> None:
    assert plain(laid_out(nodes(500, each=64), BUSY, 20, 2))[-1] == "and 480 more nodes"


def test_a_lost_gpu_and_a_silent_one_are_seen_in_every_layout() -> None:
    for hosts, height in ((1, 9), (8, 9), (64, 11), (128, 11), (128, 3)):
        some = nodes(hosts)
        some[0] = Node("n000", (Gpu(index=0, state="lost"), *some[0].gpus[1:]))
        some[-1] = (
            Node(some[-1].host, tuple(Gpu(index=index) for index in range(8))) if hosts > 1 else some[-1]
        )
        drawn = "".join(plain(laid_out(some, BUSY, 78, height)))
        assert LOST in drawn
        assert hosts == 1 or SILENT in drawn


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=40),
    st.integers(8, 200),
    st.integers(1, 40),
    st.booleans(),
)
@example(sizes=[1] * 9, width=8, height=1, ascii_only=False)
def test_no_layout_is_wider_or_higher_than_its_room(
    sizes: list[int], width: int, height: int, ascii_only: bool
) -> None:
    some = [Node(f"host-{i}", nodes(1, size)[0].gpus) for i, size in enumerate(sizes)]
    lines = laid_out(some, BUSY, width, height, ascii_only)
    assert len(lines) <= height
    assert all(cells(line) <= width for line in lines)


def test_hosts_stand_in_the_order_of_their_numbers() -> None:
    samples = frames.with_many_gpus(12).state.gpus
    renamed = [sample.model_copy(update={"host": f"gpu{i}"}) for i, sample in enumerate(samples.values())]
    assert [node.host for node in nodes_of(renamed)] == [f"gpu{i}" for i in range(12)]


def test_what_all_names_of_hosts_share_is_left_out() -> None:
    some = [Node(f"node-{number}.cluster.local", ()) for number in (8, 9, 10, 11)]
    assert list(short_names(some).values()) == ["8", "9", "10", "11"]
    assert short_names(some[:1]) == {"node-8.cluster.local": "node-8.cluster.local"}


def test_the_worst_come_first_and_are_named() -> None:
    some = nodes(4)
    some[1] = Node("n001", (Gpu(index=0, util=12.0), *some[1].gpus[1:]))
    some[2] = Node("n002", (Gpu(index=0, state="lost", xid=79), Gpu(index=1, state="throttled", util=90.0)))
    assert plain(worst(some, BUSY)) == [
        "n002 GPU 0  ✖ lost (XID 79)",
        "n002 GPU 1  ▲ throttled",
        "n001 GPU 0  ▲ busy 12 %, half are above 90 %",
    ]


def test_the_power_cap_is_no_trouble() -> None:
    assert flags_of(Gpu(index=0, throttle=("power cap", "application clocks"))) == []
    assert flags_of(Gpu(index=0, throttle=("hardware thermal",))) == [("▲ hardware thermal", "warn")]


async def test_keys_go_through_the_metrics_and_turn_the_order() -> None:
    app = RltopApp(Frames(frames.with_many_gpus(8)))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("6")
        named = await until(pilot, app, "busy  low")
        assert first_host(named) == "000"
        await pilot.press("m")
        await until(pilot, app, "tensor cores  low")
        await pilot.press("o")
        await until(pilot, app, "WORST")
        assert first_host("\n".join(screen_lines(app))) == "004"  # one of its GPUs is lost


def first_host(screen: str) -> str:
    lines = screen.splitlines()
    return lines[next(i for i, line in enumerate(lines) if "node 0 1" in line) + 1].split()[0]


async def test_a_run_without_gpus_says_how_to_have_them() -> None:
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("6")
        await until(pilot, app, "--gpus-from ssh://HOST")


async def test_processes_are_named_where_there_is_room() -> None:
    frame = frames.with_gpus()
    sample = frame.state.gpus["node-0"]
    held = (GpuProcess(pid=4242, name="ray::WorkerDict\x1b[31m", mem_used_gb=71.0),)
    gpus = (sample.gpus[0].model_copy(update={"processes": held}), *sample.gpus[1:])
    frame.state.gpus["node-0"] = sample.model_copy(update={"gpus": gpus})
    app = RltopApp(Frames(frame))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("6")
        await until(pilot, app, "4242    71 GB  ray::WorkerDict")
