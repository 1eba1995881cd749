"""The app: takes frames from a runner and shows the latest, at most four times a second.

It draws when something is new and at no other time. A runner that fails is a line on the screen.
"""

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import ClassVar, TypeVar

from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.reactive import var
from textual.screen import Screen

from ..monitor.frame import Frame
from . import bindings
from .runner import Runner
from .screens.framed import FramedScreen
from .screens.overview import Overview
from .themes import DARK, THEMES, fallbacks
from .widgets.replay import ReplayBar

REST_S = 0.25
"""Shortest time between two frames on screen."""
VIEWS = {
    "cost": ".screens.cost:CostScreen",
    "length": ".screens.length:LengthScreen",
    "health": ".screens.health:HealthScreen",
    "metrics": ".screens.metrics:MetricsScreen",
    "gpus": ".screens.gpus:GpuScreen",
    "alerts": ".screens.alerts:AlertsScreen",
    "log": ".screens.log:LogScreen",
    "config": ".screens.config:ConfigScreen",
}
"""Screens over the overview, imported when they are first opened: the first picture needs none of them."""
SomeScreen = TypeVar("SomeScreen", bound=Screen[None])


class RltopApp(App[None]):
    """rltop on one run, live or replayed."""

    TITLE = "rltop"
    CSS_PATH = "rltop.tcss"
    BINDINGS: ClassVar[list[BindingType]] = list(bindings.ALL)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (14, "-low"), (24, "-short"), (36, "-tall")]

    frame: var[Frame | None] = var[Frame | None](None, init=False)
    """The frame on screen."""

    def __init__(
        self, runner: Runner, *, ascii_only: bool = False, theme: str = DARK.name, first: str = ""
    ) -> None:
        """`first` is the view that takes the overview's place, for what has no run to give one of."""
        super().__init__()
        self._first = first
        self._ascii_only = ascii_only
        self._runner = runner
        self._latest: Frame | None = None
        self._resting = False
        self._trouble = ""
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return fallbacks(self.current_theme)

    def get_default_screen(self) -> Screen[None]:
        return self._prepared(_view(self._first) if self._first else Overview(id="overview"))

    def _prepared(self, screen: SomeScreen) -> SomeScreen:
        screen.set_class(self._ascii_only, "-ascii")
        return screen

    def on_ready(self) -> None:
        # The first picture comes before any work: an empty screen that answers beats a late one.
        self.run_worker(self._run(), name="runner", exclusive=True, exit_on_error=False)

    async def _run(self) -> None:
        try:
            await self._runner.run(self.publish)
        except Exception as error:  # noqa: BLE001 - the screen with the last figures is worth more than a traceback
            first_line = (str(error) or type(error).__name__).splitlines()[0]
            self._trouble = f"reading has stopped: {first_line}"
            for screen in self._framed():
                screen.set_trouble(self._trouble)

    def publish(self, frame: Frame) -> None:
        """Take a frame on the app's loop. The latest wins; what comes while the screen rests waits."""
        self._latest = frame
        if frame.call and self._driver is not None:
            self._driver.write(frame.call)
        if not self._resting:
            self._draw()

    def _draw(self) -> None:
        self._resting = True
        self.set_timer(REST_S, self._wake)
        self.frame = self._latest

    def _wake(self) -> None:
        self._resting = False
        if self._latest is not self.frame:
            self._draw()

    def watch_frame(self, frame: Frame | None) -> None:
        """Pass the frame on to whatever is on screen, and to what lies below a help window."""
        if frame is None:
            return
        with self.batch_update():
            for screen in self._framed():
                screen.show(frame)

    def _framed(self) -> list[FramedScreen]:
        return [screen for screen in self.screen_stack if isinstance(screen, FramedScreen)]

    def _catch_up(self, screen: FramedScreen) -> None:
        """Give a screen that has just opened what the others know."""
        if self.frame is not None:
            screen.show(self.frame)
        if self._trouble:
            screen.set_trouble(self._trouble)

    # Keys

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        commands = super().get_system_commands(screen)  # pyright: ignore[reportUnknownMemberType]
        yield from (command for command in commands if command.title != "Keys")  # our help has them
        for binding in (*bindings.SCREENS, *bindings.GENERAL, *bindings.REPLAY):
            action = binding.action
            if action in ("quit", "command_palette") or not self.check_action(action, ()):
                continue
            title = f"Replay: {binding.description}" if binding in bindings.REPLAY else binding.description
            run = partial(self.call_later, self.run_action, action)
            yield SystemCommand(title.capitalize(), f"key {binding.key_display or binding.key}", run)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key of the replay is no key while live."""
        return not action.startswith("replay_") or self._runner.control is not None

    def action_help(self) -> None:
        """Show the keys that work here."""
        from .screens.help import HelpScreen

        here = self.screen.KEYS if isinstance(self.screen, FramedScreen) else ()
        replay = bindings.REPLAY if self._runner.control is not None else ()
        self.push_screen(self._prepared(HelpScreen(here, replay)))

    def action_go_to(self) -> None:
        """Ask where to go in the run."""
        from .screens.goto import GoTo

        self.push_screen(self._prepared(GoTo(self._runner.control, self.frame)))

    def action_leave(self) -> None:
        """Close what lies over the overview."""
        if len(self.screen_stack) > 1:
            self.pop_screen()

    async def action_view(self, name: str) -> None:
        """Open a screen by its name."""
        while len(self.screen_stack) > 1:
            await self.pop_screen()
        if name in VIEWS:
            screen = self._prepared(_view(name))
            await self.push_screen(screen)
            self._catch_up(screen)

    def action_copy(self) -> None:
        """Give the terminal (OSC 52) what the crosshair is at, or the run in a line, for its clipboard."""
        if self.frame is not None and isinstance(self.screen, FramedScreen):
            copied = self.screen.copied(self.frame)
            self.copy_to_clipboard(copied)
            self.notify(f"copied: {copied}", markup=False)

    def action_save_picture(self) -> None:
        """Write what is on screen to a file, as SVG."""
        from ..monitor.saving import save_picture  # the report with it: few save

        view = type(self.screen).__name__.removesuffix("Screen").lower()
        self._save(partial(save_picture, self.frame, view, self.export_screenshot()))

    def action_save_report(self) -> None:
        """Write a report of the run as it stands to a file, as HTML."""
        from ..monitor.saving import save_report

        if self.frame is not None:
            self._save(partial(save_report, self.frame))

    def _save(self, write: Callable[[], Path]) -> None:
        try:
            self.notify(f"saved {write()}", markup=False)
        except OSError as error:
            self.notify(f"not saved: {error.strerror or error}", severity="warning", markup=False)

    def action_replay_pause(self) -> None:
        if control := self._runner.control:
            control.toggle_pause()

    def action_replay_step(self, count: int) -> None:
        if control := self._runner.control:
            control.step(count)

    def action_replay_alert(self, direction: int) -> None:
        if control := self._runner.control:
            control.next_alert(direction)

    def action_replay_faster(self) -> None:
        if control := self._runner.control:
            control.faster()

    def action_replay_slower(self) -> None:
        if control := self._runner.control:
            control.slower()

    def action_replay_seek(self, fraction: float) -> None:
        if control := self._runner.control:
            control.seek(fraction)

    def on_replay_bar_sought(self, event: ReplayBar.Sought) -> None:
        self.action_replay_seek(event.fraction)


def _view(name: str) -> FramedScreen:
    module, _, kind = VIEWS[name].partition(":")
    return getattr(import_module(module, __package__), kind)()
