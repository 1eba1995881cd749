"""`rltop whatif`, as a script meets it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

JANUARY = ("--prices", "2026-01-05")


def ask(*words: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "rltop", "whatif", *words],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )


def answers(target: Path, *words: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The report, and its what-ifs by name."""
    done = ask(str(target), *words, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told, {one["name"]: one for one in told["whatifs"]}


def test_a_tinker_run_is_asked_about_caching_gpus_and_fewer_evaluations(demo: Path) -> None:
    told, found = answers(demo / "gsm8k-tinker", *JANUARY)
    assert (told["schema"], told["basis"]) == (1, "metered")
    assert told["spent_usd"] == pytest.approx(12.97, abs=0.01)
    assert {"group-cached", "on-gpus", "break-even-mfu", "half-evals"} <= set(found)
    assert "B200" in found["on-gpus"]["label"]
    for one in found.values():
        assert one["usd"] == pytest.approx(told["spent_usd"] + one["difference_usd"])


def test_the_gpu_flags_ask_a_tinker_run_about_those_gpus_and_leave_its_bill_alone(demo: Path) -> None:
    flags = ("--gpus", "16", "--gpu-type", "H100", "--usd-per-gpu-hour", "2", "--mfu", "0.2")
    told, found = answers(demo / "gsm8k-tinker", *JANUARY, *flags)
    assert told["spent_usd"] == pytest.approx(12.97, abs=0.01)
    assert found["on-gpus"]["label"] == "the same tokens on 16 × H100"
    assert "20 % (given), $2 per GPU-hour" in found["on-gpus"]["how"]


def test_a_self_hosted_run_is_priced_on_tinker_and_on_gpus_of_another_type(demo: Path) -> None:
    plain, _ = answers(demo / "math-verl", *JANUARY)
    told, found = answers(demo / "math-verl", *JANUARY, "--gpu-type", "H100", "--usd-per-gpu-hour", "1")
    assert told["spent_usd"] == plain["spent_usd"]
    assert {"on-tinker", "break-even-mfu", "on-gpus", "half-evals"} <= set(found)
    assert "$1 per GPU-hour" in found["on-gpus"]["how"]
    assert "(measured)" in found["on-gpus"]["how"]


def test_a_price_without_a_type_is_that_of_the_runs_own_gpus(demo: Path) -> None:
    five, _ = answers(demo / "math-verl", "--usd-per-gpu-hour", "5")
    ten, found = answers(demo / "math-verl", "--usd-per-gpu-hour", "10", "--mfu", "0.1")
    assert ten["spent_usd"] == pytest.approx(2 * five["spent_usd"])
    assert "10 % (given), $10 per GPU-hour" in found["on-gpus"]["how"]


def test_flags_that_a_log_needs_to_be_priced_are_of_its_own_gpus(demo: Path) -> None:
    log = (demo / "math-verl" / "console.log").read_bytes().replace(b"B200", b"Thing")
    bare = ask("-", stdin=log)
    assert bare.returncode == 3
    assert b"--usd-per-gpu-hour" in bare.stderr
    given = ask("-", "--gpus", "8", "--gpu-type", "B200", "--json", stdin=log)
    assert json.loads(given.stdout)["basis"] == "gpu-hours"
    assert "on-gpus" not in {one["name"] for one in json.loads(given.stdout)["whatifs"]}


def test_stopping_earlier_saves_what_came_after(demo: Path) -> None:
    told, early = answers(demo / "math-verl", "--stop-at", "10")
    _, late = answers(demo / "math-verl", "--stop-at", "30")
    assert 0 < early["stop-at-plateau"]["usd"] < late["stop-at-plateau"]["usd"] < told["spent_usd"]


def test_what_was_asked_for_and_cannot_be_told_is_said(demo: Path) -> None:
    told, found = answers(demo / "math-verl", "--stop-at", "5000", "--gpu-type", "Abacus")
    assert not {"stop-at-plateau", "on-gpus"} & set(found)
    assert any("step 5000" in note for note in told["notes"])
    assert any("Abacus" in note for note in told["notes"])


def test_the_page_has_a_line_for_each(demo: Path) -> None:
    done = ask(str(demo / "gsm8k-tinker"), *JANUARY).stdout.decode().splitlines()
    assert "$12.97" in done[0]
    assert any(line.startswith("with the group's prompt cached") and "-$0.52" in line for line in done)


@pytest.mark.parametrize("words", [("--mfu", "2"), ("--mfu", "0"), ("--stop-at", "-1")])
def test_a_wrong_word_is_two(demo: Path, words: tuple[str, ...]) -> None:
    assert ask(str(demo / "math-verl"), *words).returncode == 2


def test_a_target_that_is_not_there_is_three_and_one_line(tmp_path: Path) -> None:
    done = ask(str(tmp_path / "gone.log"))
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (3, b"", 1)
