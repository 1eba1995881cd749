"""Columns by blocks, against a plain dictionary of cells."""

import math
import sys
import threading
from array import array

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rltop.models.step import Step
from rltop.monitor.column import UNPACKED, Column
from rltop.monitor.history import History
from rltop.monitor.newest import ROWS
from rltop.monitor.packing import SINGLE, Packer, packed, unpacked
from rltop.monitor.table import Table

FAR = ROWS * (UNPACKED + 4)
rows = st.one_of(st.integers(0, 3 * ROWS), st.integers(0, FAR))
numbers = st.one_of(st.floats(width=32), st.just(1.0), st.floats(-1e9, 1e9).map(round).map(float))


def same(found: float, expected: float) -> bool:
    return found == expected or (math.isnan(found) and math.isnan(expected))


@given(st.lists(st.tuples(rows, numbers), max_size=60))
@settings(max_examples=60)
def test_a_column_holds_what_was_written_last_in_whatever_order(writes: list[tuple[int, float]]) -> None:
    column, cells = Column(exact=True), dict[int, float]()
    for row, number in writes:
        column.put(row, number)
        cells[row] = number
    assert len(column) == max(cells, default=-1) + 1
    for row in {*cells, *(row + 1 for row in cells), FAR}:
        assert same(column.at(row), cells.get(row, math.nan))


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), numbers), max_size=40), st.integers(0, ROWS))
@settings(max_examples=60)
def test_rows_written_whole_give_the_cells_of_rows_written_singly(
    told: list[dict[str, float]], first: int
) -> None:
    table, columns = Table(), dict[str, Column]()
    for row, values in enumerate(told, start=first):
        table.write(row, values)
        for name, value in values.items():
            columns.setdefault(name, Column()).put(row, value)
    assert table.columns.keys() == columns.keys()
    for name, column in columns.items():
        assert list(map(repr, table.columns[name])) == list(map(repr, column))


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.dictionaries(st.sampled_from("abcdefgh"), st.one_of(numbers, st.just(math.nan))),
        ),
        max_size=60,
    ),
    st.integers(ROWS - 40, ROWS),
)
@settings(max_examples=100)
def test_parts_of_the_newest_rows_are_written_over_those_before(
    told: list[tuple[int, dict[str, float]]], first: int
) -> None:
    """Each part is of a new row (0) or of one so many rows back, about where a block ends."""
    table, cells, ends = Table(), dict[tuple[str, int], float](), dict[str, int]()
    newest = first - 1
    for back, values in told:
        row = newest + 1 if back == 0 or newest < first + back else newest - back + 1
        newest = max(newest, row)
        table.write(row, values)
        for name, value in values.items():
            cells[name, row] = value
            ends[name] = max(ends.get(name, 0), row + 1)
    assert {name: len(column) for name, column in table.columns.items()} == ends
    for name, column in table.columns.items():
        expected = [cells.get((name, row), math.nan) for row in range(ends[name])]
        assert list(map(repr, column[first:])) == list(map(repr, expected[first:]))
        assert list(map(repr, column)) == list(map(repr, expected))
        assert all(same(column[row], expected[row]) for row in range(first, ends[name]))


def test_rows_of_one_name_are_as_quick_as_others() -> None:
    table = Table()
    for row in range(3 * ROWS):
        table.write(row, {"a": float(row)})
    assert list(table.columns["a"][-3:]) == [3.0 * ROWS - 3, 3.0 * ROWS - 2, 3.0 * ROWS - 1]


def test_names_that_change_for_good_become_the_usual_ones() -> None:
    table = Table()
    for row in range(100):
        table.write(row, {"a": row, "b": row} if row < 50 else {"b": row, "c": row, "d": row})
    assert [len(table.columns[name]) for name in "abcd"] == [50, 100, 100, 100]
    assert list(table.columns["b"]) == list(range(100))
    assert table.columns["c"][49:52] == pytest.approx([math.nan, 50, 51], nan_ok=True)


def test_what_was_read_of_the_newest_rows_stays_true_when_they_go_into_a_block() -> None:
    table = Table()
    for row in range(ROWS - 1):
        table.write(row, {"a": float(row), "b": 1.0})
    before = iter(table.columns["a"])
    assert next(before) == 0.0
    table.write(ROWS - 1, {"a": 5.0, "b": 1.0})
    table.write(ROWS, {"a": 6.0, "b": 1.0})
    assert list(before) == list(map(float, range(1, ROWS - 1)))
    assert table.columns["a"][ROWS - 2 :] == array("d", [ROWS - 2, 5.0, 6.0])


@example([0.0, -0.0], 0)
@given(st.lists(st.floats(), min_size=1, max_size=50), st.integers(0, 9))
def test_what_is_packed_to_the_last_digit_is_unpacked_to_the_last_digit(
    cells: list[float], times: int
) -> None:
    whole = array("d", cells * (times + 1))
    assert unpacked(packed(0, whole, exact=True)).tobytes() == whole.tobytes()


def test_neighbours_that_are_alike_take_less_room() -> None:
    cells = array("d", (0.5 + row / 1e6 for row in range(ROWS)))
    assert sum(map(len, packed(0, cells, exact=False).planes)) < 2.5 * ROWS


def test_what_two_columns_have_in_common_is_kept_once() -> None:
    packer, cells = Packer(), array("d", (row * 0.1 for row in range(ROWS)))
    ours = packer.packed(0, cells, exact=True)
    assert packer.packed(0, array("d", cells), exact=False) is ours
    assert packer.packed(ROWS, cells, exact=False) is not ours
    rough = packer.packed(0, cells[:-1], exact=False)
    assert packer.packed(0, cells[:-1], exact=True) != rough
    assert list(unpacked(ours)) == list(cells)


def filled(values: list[float], exact: bool) -> Column:
    column = Column(exact=exact)
    for row in range(ROWS * (UNPACKED + 3)):
        column.put(row, values[row % len(values)])
    return column


@pytest.mark.parametrize("values", [[0.1, 1e-7, 123.456], [math.nan, 0.1, math.inf], [0.25]])
def test_old_cells_of_raw_keys_keep_seven_digits(values: list[float]) -> None:
    old = filled(values, exact=False)[: len(values)]
    assert old == pytest.approx(values, rel=1e-7, nan_ok=True)


def test_whole_numbers_and_times_in_seconds_are_kept_to_the_last_digit() -> None:
    for values in ([SINGLE - 1, 3.0, -7.0], [1_790_000_000.25, 1_790_000_001.5], [0.1, -(SINGLE + 0.5)]):
        assert list(filled(values, exact=False)[: len(values)]) == values


def test_old_canonical_cells_are_exact() -> None:
    assert list(filled([0.1, 0.2, 1e300], exact=True)[:3]) == [0.1, 0.2, 1e300]


def test_a_value_told_late_reaches_a_packed_block() -> None:
    column = filled([2.5], exact=True)
    column.put(7, 0.1)
    assert list(column[6:9]) == [2.5, 0.1, 2.5]


def test_a_column_as_long_as_the_rows_has_a_cell_for_each() -> None:
    steps = array("q", [1, 2, 3])
    column = Column(steps)
    column.put(1, 5.0)
    assert [math.isnan(column[0]), column[1], math.isnan(column[-1])] == [True, 5.0, True]
    with pytest.raises(IndexError):
        column[3]


def test_twelve_thousand_keys_that_come_once_each_take_little_memory() -> None:
    import tracemalloc

    history = History()
    for step in range(12_000):
        history.write(Step(step=step, reward_mean=0.5, raw={"loss": 0.5}))
    tracemalloc.start()
    for step in range(12_000, 12_400):
        history.write(Step(step=step, raw={f"rare/{step}/{index}": 0.1 for index in range(30)}))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 12e6
    assert history.row(12_399).raw("rare/12399/29") == 0.1


def test_a_thread_that_reads_what_is_written_meanwhile_finds_every_cell_where_it_was() -> None:
    table, written, wrong = Table(), [0], list[tuple[str, int, float]]()
    interval = sys.getswitchinterval()

    def read() -> None:
        place = 0
        while written[0] < 6 * ROWS:
            if not written[0]:
                continue
            place += 977
            row = place % written[0]
            for name, column in list(table.columns.items()):
                told = column.at(row)
                if told != row and (name != "late" or (row >= 2 * ROWS and row % 7 == 0)):
                    wrong.append((name, row, told))
            if list(table.columns["a"][row : row + 2])[:1] != [float(row)]:
                wrong.append(("slice", row, math.nan))

    reader = threading.Thread(target=read)
    sys.setswitchinterval(1e-5)
    try:
        reader.start()
        for row in range(6 * ROWS):
            values = {"a": float(row), "b": float(row)}
            if row >= 2 * ROWS and row % 7 == 0:
                values["late"] = float(row)
            table.write(row, values)
            written[0] = row + 1
    finally:
        sys.setswitchinterval(interval)
        written[0] = 6 * ROWS
        reader.join()
    assert wrong == []
