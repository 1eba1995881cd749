"""What is installed: one import name, all of it, and nothing that a training repository could shadow."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RLTOP = Path(sys.executable).parent / "rltop"


def run(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_every_package_is_in_the_list_that_is_installed() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    folders = [ROOT / "rltop", *(ROOT / name for name in ("models", "monitor", "tui"))]
    found = {
        ".".join(("rltop", *init.parent.relative_to(ROOT).parts)).replace("rltop.rltop", "rltop")
        for folder in folders
        for init in folder.rglob("__init__.py")
        if not any(part.is_symlink() for part in init.parents if part != ROOT)
    }
    assert found == listed


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A training repository with folders of our names, which must never be imported."""
    for name in ("models", "monitor", "tui", "rltop_sources"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('hostile module imported')\n")
    return tmp_path


@pytest.mark.skipif(not RLTOP.exists(), reason="the console script is not installed beside this Python")
def test_a_training_repository_with_folders_of_our_names_changes_nothing(hostile: Path) -> None:
    plain = run(str(RLTOP), "demo", "--plain", cwd=ROOT)
    there = run(str(RLTOP), "demo", "--plain", cwd=hostile, PYTHONPATH=str(hostile))
    assert there.returncode == 0, there.stderr
    assert there.stdout == plain.stdout
    assert "at the end" in there.stdout


def test_our_folders_are_not_importable_by_their_bare_names(tmp_path: Path) -> None:
    code = "import importlib.util as u; print([n for n in ('models', 'monitor', 'tui') if u.find_spec(n)])"
    assert run(sys.executable, "-c", code, cwd=tmp_path).stdout.strip() == "[]"


@pytest.mark.parametrize(
    "module", ["rltop.monitor.pipeline", "rltop.commands.check", "rltop.monitor.session"]
)
def test_what_has_no_screen_does_not_load_textual(module: str, tmp_path: Path) -> None:
    code = f"import sys, {module}; print([n for n in sys.modules if n.split('.')[0] in ('textual', 'rich')])"
    done = run(sys.executable, "-c", code, cwd=tmp_path)
    assert done.stdout.strip() == "[]", done.stderr


def test_the_license_and_the_readme_are_there() -> None:
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    assert "make demo" in (ROOT / "README.md").read_text()


def test_no_pinned_version_names_where_it_is_from() -> None:
    assert "://" not in (ROOT / "constraints.txt").read_text()
