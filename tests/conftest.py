"""What all tests share."""

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
