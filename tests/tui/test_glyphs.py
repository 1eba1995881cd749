"""Every sign has a stand-in for screens that show ASCII only."""

from rich.cells import cell_len

from rltop.tui import glyphs
from rltop.tui.app import RltopApp

from . import frames
from .runners import Frames, until


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


def test_a_stand_in_is_as_wide_as_its_sign() -> None:
    for sign, plain in glyphs.TO_ASCII.items():
        assert cell_len(chr(sign)) == len(str(plain))


async def test_what_textual_draws_itself_is_ascii_too() -> None:
    app = RltopApp(Frames(frames.with_alerts()), ascii_only=True)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        app.notify("copied: 8 × B200 …", markup=False)
        assert (await until(pilot, app, "copied: 8 x B200 ~")).isascii()
        await pilot.press("ctrl+p")
        assert (await until(pilot, app, "Search for commands")).isascii()
