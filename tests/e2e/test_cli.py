"""The command line as a script meets it: output, errors and exit codes."""

import fcntl
import json
import os
import pty
import shutil
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from rltop.cli import main
from rltop.models.report import CheckReport

RLTOP = [sys.executable, "-m", "rltop"]


def run(
    *words: str, cwd: Path | None = None, stdin: bytes = b"", **more: str
) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [*RLTOP, *words],
        cwd=cwd,
        input=stdin,
        env={**os.environ, **more},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_the_version_is_told() -> None:
    assert run("--version").stdout.startswith("rltop 0.")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "check",
        "replay",
        "demo",
        "follow",
        "estimate",
        "prices",
        "gpus",
        "whatif",
        "reconcile",
        "alerts",
        "notify",
    ],
)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = run(*command.split(), "--help")
    assert done.returncode == 0
    assert "examples:" in done.stdout
    assert "rltop" in done.stdout.split("examples:")[1]


def test_check_prints_schema_one(demo: Path) -> None:
    done = run("check", str(demo / "gsm8k-tinker"), "--json", "--prices", "2026-01-05")
    assert done.returncode == 0
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["schema"] == 1
    assert CheckReport.model_validate(told).cost.spent_usd == pytest.approx(12.97, abs=0.01)
    assert set(told) >= {"schema", "run", "cost", "projection", "health", "alerts", "input"}


@pytest.mark.parametrize(("level", "code"), [("never", 0), ("warning", 1), ("critical", 1)])
def test_check_fails_on_the_alerts_it_is_told_to(demo: Path, level: str, code: int) -> None:
    assert run("check", str(demo / "math-verl"), "--fail-on", level).returncode == code


def test_a_healthy_run_fails_on_nothing(demo: Path) -> None:
    done = run("check", str(demo / "gsm8k-tinker"), "--fail-on", "warning", "--budget", "20")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("words", [("check", "gone.log"), ("replay", "gone.log"), ("check", ".")])
def test_an_input_that_cannot_be_used_is_one_line_and_three(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith("rltop: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("check", "x", "--budget", "lots"),
        ("check", "x", "--price", "1,2"),
        ("replay", "x", "--speed", "0"),
        ("replay", "x", "--speed", "nan"),
        ("check", "x", "--prices", "2026-13-45"),
        ("check", "x", "--total-steps", "99999999999999999999"),
        ("follow", "x", "--record", "/"),
        ("follow", "x", "--on-critical", "no-such-command-here now"),
        ("follow", "x", "--on-critical", "'"),
        ("follow", "x", "--on-critical", ""),
        ("check", "x", "--prices", "yesterday"),
        ("estimate", "--model", "m"),
        ("demo", "nothing"),
    ],
)
def test_wrong_usage_is_two(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_names_file_and_line(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "rltop.toml").write_text("budget_usd = 5\nspeed = 3\n")
    done = run("check", str(demo / "gsm8k-tinker"), cwd=tmp_path)
    assert done.returncode == 2
    assert "rltop.toml, line 2: speed" in done.stderr


def test_settings_of_the_folder_are_used_and_flags_beat_them(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "rltop.toml").write_text("budget_usd = 5\n")
    for words, budget in (((), 5), (("--budget", "7"), 7)):
        done = run("check", str(demo / "gsm8k-tinker"), "--json", *words, cwd=tmp_path)
        assert json.loads(done.stdout)["projection"]["budget_usd"] == budget


def test_a_log_cannot_move_or_retitle_the_terminal(demo: Path, tmp_path: Path) -> None:
    row = json.loads((demo / "gsm8k-tinker" / "metrics.jsonl").read_text().splitlines()[0])
    row["reward\x1b[2Jx"] = float("nan")
    (tmp_path / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "config.json").write_text(json.dumps({"model_name": "Qwen\x1b]0;pwned\x07/x"}))
    for words in (("check", str(tmp_path)), ("replay", str(tmp_path), "--plain"), ("check", "gone\x1b[2J")):
        done = run(*words)
        assert "\x1b" not in done.stdout + done.stderr
        assert "pwned" not in done.stdout


def test_a_pipe_is_read_to_its_end_before_it_is_judged(demo: Path) -> None:
    log = demo / "math-verl" / "console.log"
    slow = f"head -c 9000 {log}; sleep 0.5; tail -c +9001 {log}"
    done = subprocess.run(
        f"({slow}) | {sys.executable} -m rltop check - --json",
        shell=True,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["run"]["steps_done"] == 35


@pytest.mark.parametrize("command", ["check", "follow"])
def test_a_pipe_with_nothing_in_it_is_an_input_that_cannot_be_used(command: str) -> None:
    done = run(command, "-", stdin=b"")
    assert done.returncode == 3, done
    assert done.stderr.startswith("rltop: -")


def test_a_terminal_without_unicode_gets_an_answer_all_the_same(demo: Path) -> None:
    done = run("check", str(demo / "math-verl"), LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_is_one_line_and_not_the_code_of_an_alert(demo: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*RLTOP, "check", str(demo / "gsm8k-tinker")],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.count(b"\n") == 1


def test_a_run_is_checked_through_a_pipe(demo: Path) -> None:
    log = (demo / "math-verl" / "console.log").read_bytes()
    done = run("check", "-", "--json", "--usd-per-gpu-hour", "5", stdin=log)
    told = json.loads(done.stdout)
    assert told["run"]["steps_done"] == 35
    assert told["run"]["sources"] == [{"kind": "console", "path": "-"}]


def test_follow_prints_a_line_a_step_and_leaves_when_the_pipe_ends(demo: Path) -> None:
    log = (demo / "math-verl" / "console.log").read_bytes()
    done = run("follow", "-", stdin=log)
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[-1]["run"]["state"] == "crashed"
    assert [line["run"]["steps_done"] for line in lines] == sorted(
        {line["run"]["steps_done"] for line in lines}
    )


@pytest.mark.parametrize("words", [("follow",), ("--plain",)])
def test_what_is_waited_for_is_told_since_it_may_be_a_wrong_name(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    gone = tmp_path / "gone.log"
    with subprocess.Popen(
        [*RLTOP, *words, str(gone)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        process.terminate()
    assert line == f"rltop: waiting: {gone}: no such file or folder\n"


@pytest.mark.parametrize("words", [("follow",), ("--plain",)])
def test_a_folder_of_several_runs_is_not_waited_for_to_become_one(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    for name, score in (("a", 1.0), ("b", 2.0)):
        (tmp_path / name).mkdir()
        rows = [json.dumps({"step": step, "reward": score + step}) for step in range(3)]
        (tmp_path / name / "metrics.jsonl").write_text("\n".join(rows))
    done = run(*words, str(tmp_path))
    assert (done.returncode, done.stdout) == (3, "")
    assert "holds 2 runs; name one of a/metrics.jsonl, b/metrics.jsonl" in done.stderr


def test_the_demo_without_a_terminal_prints_the_replay_as_lines() -> None:
    done = run("demo")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("step 0/58")
    assert "$12.97" in lines[-1]
    assert "reconstructed" in done.stderr


@pytest.mark.parametrize("name", ["log_history.csv", "roll.log", "train_bar.log", "trl.log"])
def test_a_replay_comes_to_the_same_dollars_as_a_look_where_not_all_steps_have_a_time(name: str) -> None:
    log = Path(__file__).parents[2] / "bench" / "fuzz" / "samples" / name
    words = (str(log), "--gpus", "8", "--usd-per-gpu-hour", "3.6")
    spent_usd = json.loads(run("check", *words, "--json").stdout)["cost"]["spent_usd"]
    last = run("replay", *words, "--plain").stdout.splitlines()[-1]
    assert f"${spent_usd:.2f} so far" in last


def test_a_replay_starts_at_the_step_it_is_told(demo: Path) -> None:
    lines = run("replay", str(demo / "gsm8k-tinker"), "--plain", "--from-step", "50").stdout.splitlines()
    assert lines[0].startswith("step 50/58")
    assert len(lines) == len(set(lines)) == 9


def test_a_reader_that_has_had_enough_ends_the_demo_quietly() -> None:
    done = subprocess.run(
        f"{sys.executable} -m rltop demo | head -n 1",
        shell=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


PLAN = """
--model Qwen/Qwen3-4B-Instruct-2507 --prices 2026-01-05 --groups 128 --group-size 8 --prompt-tokens 100
--response-tokens 512 --growth 1.2 --steps 59 --json
"""
ALL_FLAGS = """
--eval-every 5 --eval-problems 1319 --turns 1 --tokens-per-turn 0 --gpus 8 --gpu-type B200
--usd-per-gpu-hour 5 --mfu 0.10
"""


def test_the_estimates_of_the_published_calculator_come_out() -> None:
    billed = json.loads(run("estimate", *PLAN.split()).stdout)
    assert billed["tinker"]["usd"]["p50"] == pytest.approx(16.71, abs=0.005)
    assert billed["self_hosted"] is None
    published = json.loads(run("estimate", *PLAN.split(), "--accounting", "published").stdout)
    assert published["tinker"]["usd"]["p50"] == pytest.approx(15.39, abs=0.005)


def test_both_platforms_are_estimated_with_ranges() -> None:
    told = json.loads(run("estimate", *PLAN.split(), *ALL_FLAGS.split()).stdout)
    assert set(told) >= {"tinker", "self_hosted", "inputs"}
    for platform in (told["tinker"], told["self_hosted"]):
        assert platform["usd"]["p10"] < platform["usd"]["p50"] < platform["usd"]["p90"]
    names = {meter["name"] for meter in told["tinker"]["meters"]}
    assert {"sample", "prefill", "train", "eval_sample", "eval_prefill"} <= names
    assert set(told["self_hosted"]) >= {"usd", "gpu_hours", "hours"}


def test_prices_are_listed_and_shown_with_their_dates() -> None:
    assert "Qwen/Qwen3-8B" in run("prices", "list").stdout
    shown = run("prices", "show", "Qwen/Qwen3-8B").stdout
    assert shown.splitlines()[0].startswith("2026-01-05")
    assert "B200" in run("prices", "show", "B200").stdout
    assert run("prices", "show", "nobody/knows").returncode == 3


def in_a_terminal(words: list[str], stdin: int | None = None) -> "tuple[subprocess.Popen[bytes], int]":
    """Run a command as a terminal does, and the far end of that terminal."""
    parent, child = pty.openpty()

    def take_the_terminal() -> None:
        fcntl.ioctl(child, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        words,
        stdin=child if stdin is None else stdin,
        stdout=child,
        stderr=child,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"},
        start_new_session=True,
        preexec_fn=take_the_terminal,
    )
    os.close(child)
    return process, parent


def leave_when_seen(process: "subprocess.Popen[bytes]", terminal: int, text: bytes) -> int:
    """Press `q` once the text stands on the screen; the exit code."""
    seen = b""
    while text not in seen:
        seen += os.read(terminal, 65536)
    os.write(terminal, b"q")
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass  # the far end of a pty is gone: on Linux that is an error
    os.close(terminal)
    return process.wait(30)


@pytest.mark.parametrize(
    "words",
    [("check", "--json"), ("report", "--format", "json"), ("report", "--format", "html"), ("alerts",)],
)
def test_a_file_name_that_is_no_utf8_is_no_error(demo: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    odd = tmp_path / os.fsdecode(b"run-\xff")
    shutil.copytree(demo, odd)
    done = run(*words, str(odd), *(("--json",) if words == ("alerts",) else ()))
    assert (done.returncode, done.stderr) == (0, "")
    if "html" not in words:
        assert json.loads(done.stdout)["schema"] == 1


def test_the_screen_runs_in_a_real_terminal_and_leaves_with_q(demo: Path) -> None:
    process, terminal = in_a_terminal([*RLTOP, str(demo / "gsm8k-tinker")])
    assert leave_when_seen(process, terminal, b"so far") == 0


def test_a_key_to_leave_before_the_screen_is_there_leaves_nothing_behind(demo: Path) -> None:
    process, terminal = in_a_terminal([*RLTOP, str(demo / "gsm8k-tinker")])
    said = os.read(terminal, 65536)
    os.write(terminal, b"q")
    try:
        while part := os.read(terminal, 65536):
            said += part
    except OSError:
        pass  # as above
    os.close(terminal)
    assert process.wait(30) == 0
    assert b"Warning" not in said


def test_a_piped_run_leaves_the_keyboard_to_the_screen(demo: Path) -> None:
    with (demo / "math-verl" / "console.log").open("rb") as log:
        process, terminal = in_a_terminal([*RLTOP, "-", "--usd-per-gpu-hour", "5"], stdin=log.fileno())
        assert leave_when_seen(process, terminal, b"so far") == 0


def test_the_screen_without_a_terminal_says_what_works_instead(demo: Path) -> None:
    done = run(str(demo / "gsm8k-tinker"))
    assert done.returncode == 3
    assert "rltop check" in done.stderr


def test_a_crashed_run_is_told_what_it_would_have_cost_and_no_time_to_go(
    capsys: pytest.CaptureFixture[str],
) -> None:
    demo = Path(__file__).parents[2] / "monitor" / "demo" / "data" / "math-verl"
    assert main(["check", str(demo), "--usd-per-gpu-hour", "4.98"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("AT END"))
    assert "had it gone on" in line
    assert "ends in" not in line
