"""`rltop config` and `rltop completion`, as a shell sees them."""

import subprocess
from pathlib import Path

import pytest

from rltop.cli import COMMANDS, main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_settings_are_shown_with_the_line_they_are_from(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rltop.toml").write_text('budget_usd = 40\n\n[keys]\nreward_mean = "acc"\n')
    assert main(["config", "show"]) == 0
    assert capsys.readouterr().out == (
        "budget_usd        40  (rltop.toml, line 1)\nkeys.reward_mean  acc  (rltop.toml, line 4)\n"
    )


def test_a_setting_that_cannot_be_used_is_exit_2_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rltop.toml").write_text("budget_usd = 40\nbudgte = 3\n")
    assert main(["config", "check"]) == 2
    assert capsys.readouterr().err.startswith("rltop: rltop.toml, line 2: budgte: unknown setting; known are")


def test_the_files_that_are_read_are_named_whether_there_or_not(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rltop.toml").write_text("")
    assert main(["config", "path"]) == 0
    user, project = capsys.readouterr().out.splitlines()
    assert user.endswith("(not there)")
    assert project == "rltop.toml"


def test_a_file_to_check_that_is_not_there_is_exit_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "gone.toml"]) == 3
    assert capsys.readouterr().err == "rltop: gone.toml: no such file\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[screen.keys]\n"view.cost" = "q"\n', "line 2: screen.keys.view.cost: q is app.quit already"),
        ('[screen.keys]\n"view.nothing" = "c"\n', "line 2: screen.keys.view.nothing: no such id"),
        ('[screen.keys]\n"view.cost" = "/"\n', "line 2: screen.keys.view.cost: slash is metrics.filter"),
        ('[screen.keys]\n"view.cost" = ""\n', "line 2: screen.keys.view.cost: nothing is no key"),
        (
            '[screen.keys]\n"view.cost" = "c,ctrl+nokey"\n',
            "line 2: screen.keys.view.cost: ctrl+nokey is no key",
        ),
        ('[screen]\ntheme = "mauve"\n', "line 2: screen.theme: no theme named mauve: "),
        (
            '[screen]\nthem = "c"\n',
            "line 2: screen.them: unknown setting; known are theme, ascii, mouse, keys",
        ),
    ],
)
def test_what_cannot_be_had_of_the_screen_is_named(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("rltop.toml").write_text(text)
    assert main(["config", "check"]) == 2
    assert message in capsys.readouterr().err


def test_keys_are_listed_with_those_of_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rltop.toml").write_text('[screen.keys]\n"view.cost" = "c,f2"\n')
    assert main(["config", "keys"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert next(line.split()[:2] for line in lines if line.startswith("view.cost")) == ["view.cost", "c,f2"]


COMPLETE = """
source rltop.bash
complete_words() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _shtab_rltop rltop "${@: -1}" "${@: -2:1}"
  echo "${COMPREPLY[@]}"
}
complete_words rltop rep
complete -p rltop
complete_words rltop check --fail-on war
"""


def test_bash_completes_commands_and_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    Path("rltop.bash").write_text(capsys.readouterr().out)
    told = subprocess.run(["bash", "-c", COMPLETE], capture_output=True, text=True, check=True).stdout
    words, as_file, choice = told.splitlines()
    assert set(words.split()) == {"replay", "report"}
    assert "-o default" in as_file
    assert choice == "warning"


def test_every_command_is_among_the_words_that_are_completed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "zsh"])
    script = capsys.readouterr().out
    assert [name for name in COMMANDS if name != "watch" and f"{name}:'" not in script] == []


def test_what_is_there_by_name_but_is_no_file_is_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder.toml").mkdir()
    assert main(["config", "check", "folder.toml"]) == 2
    assert capsys.readouterr().err == "rltop: folder.toml: not a file\n"
    Path("rltop.toml").symlink_to("nowhere")
    assert main(["config", "check"]) == 2
    assert capsys.readouterr().err == "rltop: rltop.toml: No such file or directory\n"


def test_a_setting_cannot_move_the_cursor_of_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rltop.toml").write_text('"bud\\u001b[31mget" = 5\n')
    assert main(["config", "check"]) == 2
    assert "\x1b" not in capsys.readouterr().err
