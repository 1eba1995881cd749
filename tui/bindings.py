"""Every key, once: the bindings, the help screen and the palette are all made of these.

Each has an id, by which a user may give it another key.
"""

from collections.abc import Mapping

from textual.binding import Binding
from textual.keys import format_key


def _key(keys: str, action: str, description: str, id: str, shown: str | None = None) -> Binding:
    return Binding(keys, action, description, id=id, key_display=shown, tooltip=description)


def shown(binding: Binding, keymap: Mapping[str, str]) -> str:
    """The key of a binding as people call it, under the keys that the user has given by id."""
    own = keymap.get(binding.id or "")
    return (binding.key_display or binding.key) if own is None else format_key(own.split(",")[0].strip())


SCREENS = (
    _key("1", "view('overview')", "overview: cost, length, health", "view.overview"),
    _key("2", "view('cost')", "cost: the bill, what-ifs, forecasts", "view.cost"),
    _key("3", "view('length')", "length: of the responses, and the cap", "view.length"),
    _key("4", "view('health')", "health: reward, KL, entropy, gradients", "view.health"),
    _key("5", "view('metrics')", "metrics: every number of the log", "view.metrics"),
    _key("6", "view('gpus')", "GPUs: each of them, and idle time", "view.gpus"),
    _key("7", "view('alerts')", "alerts, and notes on the figures", "view.alerts"),
    _key("8", "view('log')", "log: errors, pauses, checkpoints", "view.log"),
    _key("9", "view('config')", "config: every fact of the run", "view.config"),
)
ANYWHERE = (
    _key("escape", "leave", "back to the overview", "app.leave", "esc"),
    _key("ctrl+p", "command_palette", "every command, by name", "app.palette", "ctrl p"),
    _key("question_mark,f1", "help", "the keys that work here", "app.help", "?"),
    _key("ctrl+z", "suspend_process", "to the shell; `fg` comes back", "app.suspend", "ctrl z"),
    _key("q,ctrl+c", "quit", "leave; the run goes on", "app.quit", "q"),
)
GENERAL = (
    _key("y", "copy", "copy what the crosshair is at, or the run in a line", "app.copy"),
    _key("s", "save_picture", "save a picture of the screen", "app.save"),
    _key("S", "save_report", "save a report of the run", "app.report"),
    _key("colon", "go_to", "go to a step, a share, a time", "app.go_to", ":"),
    *ANYWHERE,
)
REPLAY = (
    _key("space", "replay_pause", "pause, or go on", "replay.pause", "space"),
    _key("right", "replay_step(1)", "next step", "replay.next", "→"),
    _key("left", "replay_step(-1)", "step before", "replay.before", "←"),
    _key("shift+right", "replay_step(10)", "ten steps on", "replay.next10", "shift →"),
    _key("shift+left", "replay_step(-10)", "ten steps back", "replay.before10", "shift ←"),
    _key("n", "replay_alert(1)", "next alert", "replay.next_alert"),
    _key("N", "replay_alert(-1)", "alert before", "replay.alert_before"),
    _key("plus,equals_sign", "replay_faster", "faster", "replay.faster", "+"),
    _key("minus", "replay_slower", "slower", "replay.slower", "-"),
    _key("home", "replay_seek(0.0)", "to the start", "replay.start", "home"),
    _key("end", "replay_seek(1.0)", "to the end", "replay.end", "end"),
)
ALL = (*GENERAL, *SCREENS, *REPLAY)
