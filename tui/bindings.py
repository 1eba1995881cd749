"""Every key, once: the bindings, the help screen, the bottom line and the palette are all made of these.

Each has an id, by which a user may give it another key.
"""

from textual.binding import Binding

GENERAL = (
    Binding("q", "quit", "quit", id="app.quit", tooltip="Leave; the run itself is not touched"),
    Binding(
        "question_mark,f1", "help", "help", id="app.help", key_display="?", tooltip="The keys that work here"
    ),
    Binding("ctrl+p", "command_palette", "commands", id="app.palette", tooltip="Every command, by name"),
    Binding("escape", "leave", "back", id="app.back", show=False, tooltip="Back to the overview"),
)
SCREENS = (
    Binding(
        "1", "view('overview')", "overview", id="view.overview", tooltip="Cost, length, health at a glance"
    ),
    Binding("5", "view('metrics')", "metrics", id="view.metrics", tooltip="Every number of the log"),
    Binding(
        "7", "view('alerts')", "alerts", id="view.alerts", tooltip="All alerts, and notes on the figures"
    ),
)
REPLAY = (
    Binding("space", "replay_pause", "pause / go on", id="replay.pause", key_display="space"),
    Binding("right", "replay_step(1)", "next step", id="replay.next", key_display="→"),
    Binding("left", "replay_step(-1)", "step before", id="replay.before", key_display="←"),
    Binding("shift+right", "replay_step(10)", "ten steps on", id="replay.next10", key_display="shift →"),
    Binding("shift+left", "replay_step(-10)", "ten steps back", id="replay.before10", key_display="shift ←"),
    Binding("n", "replay_alert(1)", "next alert", id="replay.next_alert"),
    Binding("N", "replay_alert(-1)", "alert before", id="replay.alert_before"),
    Binding("plus,equals_sign", "replay_faster", "faster", id="replay.faster", key_display="+"),
    Binding("minus", "replay_slower", "slower", id="replay.slower", key_display="-"),
    Binding("home", "replay_seek(0.0)", "to the start", id="replay.start"),
    Binding("end", "replay_seek(1.0)", "to the end", id="replay.end"),
)
ALL = (*GENERAL, *SCREENS, *REPLAY)
