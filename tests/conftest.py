"""What all tests share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture
def shared_data() -> Path:
    """Real runs that lie beside the checkout and are never part of it."""
    if not SHARED_DATA.is_dir():
        pytest.skip(
            "the folder of real runs is not beside this checkout; small fixtures of our own cover the rest"
        )
    return SHARED_DATA


@pytest.fixture(scope="session", autouse=True)
def no_settings_of_the_developers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests, and the commands that they start, find neither settings nor refreshed prices nor kept lines."""
    empty = str(tmp_path_factory.mktemp("home"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            patch.setitem(os.environ, name, empty)
        yield
