"""The app: takes frames from a runner and shows the latest, at most four times a second.

It draws when something is new and at no other time. A runner that fails is a line on the screen.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.reactive import var
from textual.screen import Screen

from ..models.fleet import FleetRow
from ..monitor.fleet.frame import FleetFrame
from ..monitor.frame import Frame
from . import bindings
from .asciionly import ASCII_ONLY
from .runner import FleetRunner, ManyRuns, Runner
from .screens.framed import FramedScreen
from .screens.overview import Overview
from .themes import DARK, THEMES, fallbacks
from .widgets.replay import ReplayBar

if TYPE_CHECKING:
    from .widgets.fleettable import FleetTable

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
    """rltop on one run, live or replayed; or on many, any of which can be opened."""

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
        self._fleet: FleetRunner | None = None
        """Where the run on screen was opened from."""
        self._fleet_frame: FleetFrame | None = None
        self._alone = False
        """Whether there was one run alone has been seen, and that one shown."""
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return fallbacks(self.current_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = super().get_line_filters()
        return [*filters, ASCII_ONLY] if self._ascii_only else filters

    def get_default_screen(self) -> Screen[None]:
        return self._prepared(_view(self._first) if self._first else Overview(id="overview"))

    def _prepared(self, screen: SomeScreen) -> SomeScreen:
        screen.set_class(self._ascii_only, "-ascii")
        return screen

    def on_ready(self) -> None:
        self.app_resume_signal.subscribe(self, self._back_from_shell)
        # The first picture comes before any work: an empty screen that answers beats a late one.
        self.run_worker(partial(self._run, self._runner), group="run", exclusive=True, exit_on_error=False)

    def _back_from_shell(self, _: object) -> None:
        # The terminal was emptied, and what has not changed since would not be drawn by itself.
        self.refresh(layout=True)

    async def _run(self, runner: Runner) -> None:
        try:
            await runner.run(self.publish)
        except ManyRuns as many:
            self.run_worker(self._show_fleet(many.fleet), group="fleet", exclusive=True, exit_on_error=False)
        except Exception as error:  # noqa: BLE001 - the screen with the last figures is worth more than a traceback
            self._trouble = f"reading has stopped: {_first_line(error)}"
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
        of_run = self.screen_stack if self._fleet is None else self.screen_stack[1:]
        return [screen for screen in of_run if isinstance(screen, FramedScreen)]

    def _catch_up(self, screen: FramedScreen) -> None:
        """Give a screen that has just opened what the others know."""
        if self.frame is not None:
            screen.show(self.frame)
        if self._trouble:
            screen.set_trouble(self._trouble)

    # Many runs

    @property
    def _floor(self) -> int:
        """Screens that stay when a view is left: the overview, and below it those of the fleet."""
        return 1 if self._fleet is None else 3

    async def _show_fleet(self, fleet: FleetRunner) -> None:
        """Over the overview of no run, since Textual cannot do without a first screen."""
        from .screens.fleet import FleetScreen  # few need it, and none before the first picture

        self._fleet = fleet
        while len(self.screen_stack) > 1:
            await self.pop_screen()
        screen = self._prepared(FleetScreen(id="fleet"))
        await self.push_screen(screen)
        try:
            await fleet.run(self.publish_fleet)
        except Exception as error:  # noqa: BLE001 - as for one run
            screen.set_trouble(f"reading has stopped: {_first_line(error)}")

    def publish_fleet(self, fleet: FleetFrame) -> None:
        """Take a frame of all runs on the app's loop. They come seldom enough to be drawn as they come."""
        from .screens.fleet import FleetScreen

        self._fleet_frame = fleet
        if len(self._framed()) == 0:
            for screen in self.screen_stack:
                if isinstance(screen, FleetScreen):
                    screen.show_fleet(fleet)
        scan = fleet.scan
        if not self._alone and fleet.rows and not fleet.totals.reading and scan is not None and scan.complete:
            self._alone = True
            if len(fleet.rows) == 1:
                self.run_worker(self._open(fleet.rows[0]))

    async def on_fleet_table_opened(self, event: "FleetTable.Opened") -> None:
        await self._open(event.row)

    async def _open(self, row: FleetRow) -> None:
        """Show a run of the fleet."""
        if self._fleet is None or self._framed():
            return
        self._runner = self._fleet.open(row)
        self._latest = None
        self.set_reactive(RltopApp.frame, None)
        self._trouble = ""
        await self.push_screen(self._prepared(Overview()))
        self.run_worker(partial(self._run, self._runner), group="run", exclusive=True, exit_on_error=False)

    def _close_run(self) -> None:
        """Back to the fleet, and let go of the run."""
        from .screens.fleet import FleetScreen

        self.workers.cancel_group(self, "run")  # pyright: ignore[reportUnknownMemberType] - Textual's own types
        self.pop_screen()
        for name in filter(self.is_screen_installed, VIEWS):  # another run begins with screens of its own
            screen = self.get_screen(name)
            self.uninstall_screen(name)
            screen.remove()
        fleet = self.screen
        if isinstance(fleet, FleetScreen) and self._fleet_frame is not None:
            fleet.show_fleet(self._fleet_frame)

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
            yield SystemCommand(
                title[:1].upper() + title[1:], f"key {binding.key_display or binding.key}", run
            )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key of the replay is no key while live, and one of a run's screens none while none is open."""
        if action in ("view", "go_to") and self._fleet is not None:
            return bool(self._framed())
        return not action.startswith("replay_") or self._runner.control is not None

    def action_help(self) -> None:
        """Show the keys that work here."""
        from .screens.help import HelpScreen

        here: Sequence[Binding] = getattr(self.screen, "KEYS", ())
        replay = bindings.REPLAY if self._runner.control is not None else ()
        self.push_screen(self._prepared(HelpScreen(here, replay)))

    def action_go_to(self) -> None:
        """Ask where to go in the run."""
        from .screens.goto import GoTo

        self.push_screen(self._prepared(GoTo(self._runner.control, self.frame)))

    def action_leave(self) -> None:
        """Close what lies over the overview, and then the run, where it was opened from many."""
        if len(self.screen_stack) > self._floor:
            self.pop_screen()
        elif self._fleet is not None and self._framed():
            self._close_run()

    async def action_view(self, name: str) -> None:
        """Open a screen by its name."""
        while len(self.screen_stack) > self._floor:
            await self.pop_screen()
        if name in VIEWS:
            if not self.is_screen_installed(name):
                self.install_screen(self._prepared(_view(name)), name)
            screen = self.get_screen(name, FramedScreen)
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


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _view(name: str) -> FramedScreen:
    module, _, kind = VIEWS[name].partition(":")
    return getattr(import_module(module, __package__), kind)()
