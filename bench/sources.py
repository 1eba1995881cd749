"""Writes the table of docs/sources.md from the formats' own words. Usage: `python -m bench.sources`."""

import re
from pathlib import Path

from rltop.monitor.sources.matrix import matrix

PAGE = Path(__file__).parents[1] / "docs" / "sources.md"
PLACE = re.compile(r"(<!-- matrix: .*? -->\n).*?(<!-- end -->)", re.DOTALL)


def renewed(page: str) -> str:
    """The page with the table as it should be now."""
    return PLACE.sub(lambda found: f"{found[1]}\n{matrix()}\n\n{found[2]}", page)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
