"""Which runs may be one, and how few are suspected."""

from rltop.monitor.fleet.twins import MOST, Print, Twins


def numbers(*values: float, steps: range = range(10)) -> Print:
    return frozenset((step, f"{value + step:.2e}") for step in steps for value in values)


def test_logs_with_most_numbers_in_common_are_suspected() -> None:
    twins = Twins()
    assert twins.add("console", numbers(1.23, 4.56, 7.89)) == []
    assert twins.add("jsonl", numbers(1.23, 4.56)) == ["console"]


def test_a_few_numbers_in_common_by_chance_raise_no_suspicion() -> None:
    twins = Twins()
    twins.add("one", numbers(*(n + 0.123 for n in range(0, 900, 30))))
    assert twins.add("other", numbers(0.123, *(n + 0.777 for n in range(0, 900, 30)))) == []


def test_of_many_that_look_the_same_only_the_likeliest_are_tried() -> None:
    twins = Twins()
    suspected = [len(twins.add(str(n), numbers(1.23, 4.56))) for n in range(20)]
    assert max(suspected) == MOST


def test_a_run_that_is_gone_is_not_suspected() -> None:
    twins = Twins()
    twins.add("a", numbers(1.23, 4.56))
    twins.remove("a")
    assert twins.add("b", numbers(1.23, 4.56)) == []
