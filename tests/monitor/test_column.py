"""Columns by blocks, against a plain dictionary of cells."""

import math
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.step import Step
from rltop.monitor.column import ROWS, SINGLE, UNPACKED, Column
from rltop.monitor.history import History
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
