"""The user's own command: run once an alert, with JSON on its input, and never in anybody's way."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rltop.models.alert import Alert
from rltop.models.notifying import NotifySettings
from rltop.monitor.clock import SystemClock
from rltop.monitor.frame import Frame
from rltop.monitor.notify.command import OnCritical, run_command
from rltop.monitor.notify.news import Notice
from rltop.monitor.notify.teller import Teller

PYTHON = sys.executable
KEEP = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"


def told_to(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_it_runs_once_for_each_alert_that_becomes_critical(
    tmp_path: Path, alerted: Callable[..., Alert], frame_of: Callable[..., Frame]
) -> None:
    kept = tmp_path / "told"
    command = OnCritical((PYTHON, "-c", KEEP, str(kept)), 30.0)
    telling = Teller((), NotifySettings(severity="info"), SystemClock(), command)
    telling.tell(frame_of())
    telling.tell(frame_of(alerted("clip", 3)))
    telling.tell(frame_of(alerted("clip", 3, "critical")))
    telling.tell(frame_of(alerted("clip", 3, "critical"), alerted("nan", 4, "critical")))
    telling.tell(frame_of(alerted("clip", 3, "critical", 9), alerted("nan", 4, "critical")))
    assert telling.close(timeout_s=30.0) == ()
    rules = [(one["change"], Alert.model_validate(one["alert"]).rule) for one in told_to(kept)]
    # To this command an alert begins when it becomes critical.
    assert rules == [("raised", "clip"), ("raised", "nan")]
    assert {one["schema"] for one in told_to(kept)} == {1}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((PYTHON, "-c", "import sys; sys.exit('first\\nno such job')"), "exit code 1: no such job"),
        ((PYTHON, "-c", "import os; os._exit(7)"), "exit code 7"),
        (("/no/such/command",), "cannot be run: No such file or directory"),
        ((PYTHON, "-c", "print('x' * 10_000_000)"), ""),
        ((PYTHON, "-c", "raise SystemExit('a\\x1b[2Jb')"), "exit code 1: ab"),
    ],
)
def test_what_goes_wrong_is_one_line(words: tuple[str, ...], why: str) -> None:
    assert run_command(words, "{}" * 100_000, 30.0) == why


def test_one_that_takes_too_long_is_ended_with_all_that_it_started() -> None:
    wait = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)"
    assert run_command((PYTHON, "-c", f"{wait}; import signal; signal.pause()"), "{}", 0.3).startswith(
        "took longer"
    )


def test_words_of_a_log_are_never_part_of_the_command(tmp_path: Path, notice: Callable[..., Notice]) -> None:
    command = OnCritical((PYTHON, "-c", KEEP, str(tmp_path / "told")), 30.0)
    bad = notice("nan", "critical", run=f"$(touch {tmp_path}/pwned); `touch {tmp_path}/pwned`")
    command.post([bad])
    command.close()
    assert command.join(30.0) == ""
    assert [path.name for path in tmp_path.iterdir()] == ["told"]
    assert told_to(tmp_path / "told")[0]["run"] == bad.run


def test_one_that_still_runs_at_the_end_is_left_to_itself(
    tmp_path: Path, notice: Callable[..., Notice]
) -> None:
    gate = tmp_path / "gate"
    wait = f"import os; os.mkfifo({str(gate)!r}); open({str(gate)!r}).read()"
    command = OnCritical((PYTHON, "-c", wait), 30.0)
    command.post([notice("nan", "critical")])
    command.close()
    assert "still runs" in command.join(0.05)
    while not gate.exists():
        command.join(0.02)
    gate.open("w").close()
    assert command.join(30.0) == ""
