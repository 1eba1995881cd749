"""Every sign has a stand-in for screens that show ASCII only."""

from rltop.tui import glyphs


def test_every_braille_cell_has_an_ascii_stroke() -> None:
    for mask in range(256):
        assert chr(glyphs.BRAILLE + mask).translate(glyphs.TO_ASCII).isascii()


def test_strokes_lean_as_their_dots_do() -> None:
    rising = chr(glyphs.BRAILLE + glyphs.BRAILLE_BITS[0][3] + glyphs.BRAILLE_BITS[1][0])
    assert rising.translate(glyphs.TO_ASCII) == "/"


def test_the_signs_of_states_and_alerts_stay_apart_in_ascii() -> None:
    for signs in (glyphs.STATUS, glyphs.SEVERITY):
        plain = [sign.translate(glyphs.TO_ASCII) for sign in signs.values()]
        assert all(sign.isascii() for sign in plain)
        assert len(set(plain)) == len(plain)
