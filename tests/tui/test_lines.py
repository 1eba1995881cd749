"""Spans share a line: what fits stays whole, and the least important goes first."""

from rich.cells import cell_len

from rltop.models.text import printable
from rltop.tui.lines import Line, Span, cells, cut, fit, part, row, spread, tidied, wrapped


def text_of(line: Line) -> str:
    return "".join(span.text for span in line)


def test_parts_stand_side_by_side_while_there_is_room() -> None:
    line = row([part(0, Span("cost")), part(1, Span("budget"))], 20)
    assert text_of(line) == "cost   budget"


def test_the_part_with_the_highest_rank_goes_first_wherever_it_stands() -> None:
    line = row([part(2, Span("why")), part(0, Span("cost")), part(1, Span("budget"))], 14)
    assert text_of(line) == "cost   budget"


def test_parts_move_closer_before_one_is_dropped() -> None:
    assert text_of(row([part(0, Span("cost")), part(1, Span("budget"))], 12)) == "cost  budget"


def test_the_last_part_is_never_dropped() -> None:
    assert text_of(row([part(0, Span("a long word"))], 3)) == "a long word"


def test_left_and_right_parts_share_the_whole_width() -> None:
    line = spread([part(0, Span("left"))], [part(1, Span("right"))], 14)
    assert text_of(line) == "left     right"


def test_a_line_is_padded_or_cut_to_exactly_its_width() -> None:
    line = (Span("12345"), Span("67890"))
    assert [text_of(fit(line, width)) for width in (12, 10, 7)] == ["1234567890  ", "1234567890", "123456…"]


def test_wide_characters_count_as_two_cells() -> None:
    assert cells(fit((Span("模型模型"),), 6)) == 6
    assert cell_len(cut("模型模型", 5)) <= 5


def test_control_characters_of_a_log_never_reach_the_terminal() -> None:
    assert printable("a\x1b[31mb\nc\x00\td") == "ab c d"


def test_text_wraps_between_words() -> None:
    assert [text_of(line) for line in wrapped("raise the cap or add a term", 12)] == [
        "raise the",
        "cap or add a",
        "term",
    ]


def test_tidying_moves_leading_spaces_and_changes_no_cell() -> None:
    line = (Span("12", "strong"), Span("  tok", "dim"), Span(" x", "ours-band"))
    tidy = tidied(line)
    assert text_of(tidy) == text_of(line)
    assert not any(span.text.startswith(" ") and span.text.strip() for span in tidy)
