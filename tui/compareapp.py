"""The app of a comparison: several runs, one screen, drawn when one is new, four times a second at most."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from textual.app import App
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from ..models.comparison import Measure
from ..monitor.frame import Frame
from . import bindings
from .asciionly import ASCII_ONLY
from .screens.compare import CompareScreen
from .themes import DARK, THEMES, fallbacks

REST_S = 0.25


class Runs(Protocol):
    """Makes frames of all runs until it is cancelled."""

    names: Sequence[str]

    async def run(self, publish: Callable[[Sequence[Frame]], None]) -> None:
        """Publish the frames of all runs, in the order of `names`, on the running loop."""
        ...


class CompareApp(App[None]):
    """Two to six runs side by side."""

    TITLE = "rltop compare"
    CSS_PATH = "rltop.tcss"
    BINDINGS: ClassVar[list[BindingType]] = list(bindings.ANYWHERE)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (14, "-low"), (24, "-short"), (36, "-tall")]

    def __init__(self, runs: Runs, measure: Measure = "step", *, ascii_only: bool = False) -> None:
        super().__init__()
        self._runs = runs
        self._measure: Measure = measure
        self._ascii_only = ascii_only
        self._latest: Sequence[Frame] = ()
        self._resting = self._stale = False
        for known in THEMES:
            self.register_theme(known)
        self.theme = DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return fallbacks(self.current_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = super().get_line_filters()
        return [*filters, ASCII_ONLY] if self._ascii_only else filters

    def get_default_screen(self) -> Screen[None]:
        screen = CompareScreen(self._runs.names, self._measure)
        screen.set_class(self._ascii_only, "-ascii")
        return screen

    def on_ready(self) -> None:
        self.app_resume_signal.subscribe(self, self._back_from_shell)
        self.run_worker(self._run, name="runs", exclusive=True, exit_on_error=False)

    def _back_from_shell(self, _: object) -> None:
        # The terminal was emptied, and what has not changed since would not be drawn by itself.
        self.refresh(layout=True)

    async def _run(self) -> None:
        try:
            await self._runs.run(self.publish)
        except Exception as error:  # noqa: BLE001 - the last figures are worth more than a traceback
            first = (str(error) or type(error).__name__).splitlines()[0]
            self.notify(f"reading has stopped: {first}", severity="error", timeout=60)

    def publish(self, frames: Sequence[Frame]) -> None:
        """Take frames on the app's loop. The latest win; what comes while the screen rests waits."""
        self._latest, self._stale = frames, True
        if not self._resting:
            self._draw()

    def _draw(self) -> None:
        self._resting, self._stale = True, False
        self.set_timer(REST_S, self._wake)
        shown = self.screen_stack[0]
        if isinstance(shown, CompareScreen):
            with self.batch_update():
                shown.compare(self._latest)

    def _wake(self) -> None:
        self._resting = False
        if self._stale:
            self._draw()

    def action_help(self) -> None:
        """Show the keys that work here."""
        from .screens.help import HelpScreen  # not before it is asked for

        screen = HelpScreen(CompareScreen.KEYS, (), screens=False)
        screen.set_class(self._ascii_only, "-ascii")
        self.push_screen(screen)

    def action_leave(self) -> None:
        """Close what lies over the comparison."""
        if len(self.screen_stack) > 1:
            self.pop_screen()
