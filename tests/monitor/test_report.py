"""`rltop report`: one file that says what a run cost, how that was foreseen, and what went wrong."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rltop.commands.report import write
from rltop.models.settings import Settings
from rltop.monitor.clock import FakeClock
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.report.content import Chart, Series
from rltop.monitor.report.svg import chart_svg
from rltop.monitor.session import Session
from rltop.monitor.target import open_target

DEMO = Path(__file__).parents[2] / "monitor" / "demo" / "data"
VOID = {"meta", "path", "link", "br"}


class Page(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.words += data


def report(path: Path, form: str, **settings: object) -> str:
    pipeline = Pipeline(Settings.model_validate(settings), Book.load())
    frame = Session(open_target(path), pipeline, FakeClock(1_795_980_000.0)).read_all()
    return write(frame, pipeline, form)


def test_the_page_needs_nothing_else_and_runs_nothing() -> None:
    text = report(DEMO / "math-verl", "html", usd_per_gpu_hour=4.98, budget_usd=150)
    page = Page(text)
    assert page.open == []
    assert page.links == []
    assert "script" not in page.tags
    assert "url(" not in text
    assert "@import" not in text


def test_the_page_says_what_the_check_says() -> None:
    page = Page(report(DEMO / "math-verl", "html", usd_per_gpu_hour=4.98, budget_usd=150))
    assert "$46.54" in page.words
    assert re.search(r"over budget \d\d %", page.words)
    assert "clip ratio 44 % of responses cut" in page.words
    assert page.tags.count("svg") >= 7


def test_markdown_has_the_bill_the_alerts_and_how_it_went() -> None:
    text = report(DEMO / "gsm8k-tinker", "md")
    assert text.startswith("# ")
    assert re.search(r"^\| sample \| .* \| \$\d", text, re.MULTILINE)
    assert "## Alerts" in text
    assert re.search(r"^\| Cost: at the end, as known then \| \$", text, re.MULTILINE)


def test_json_is_the_check_and_a_cell_for_each_step() -> None:
    told = json.loads(report(DEMO / "math-verl", "json", usd_per_gpu_hour=4.98))
    assert told["schema"] == 1
    assert told["cost"]["spent_usd"] == pytest.approx(46.54, abs=0.01)
    history = told["history"]
    assert len(history["step"]) == len(history["spent_usd"]) == len(history["columns"]["reward_mean"]) == 35
    assert history["final_usd_p50"][0] is None or history["final_usd_p50"][0] > 0


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_a_run_with_next_to_nothing_in_it_has_a_report(tmp_path: Path, form: str) -> None:
    (tmp_path / "m.jsonl").write_text('{"step": 1, "loss": 0.5}\n')
    assert report(tmp_path / "m.jsonl", form)


def test_words_of_a_log_cannot_become_markup(tmp_path: Path) -> None:
    run = tmp_path / "<img src=x onerror=alert(1)>"
    run.mkdir()
    rows = (DEMO / "gsm8k-tinker" / "metrics.jsonl").read_text()
    (run / "metrics.jsonl").write_text(rows)
    page = Page(report(run, "html"))
    assert "img" not in page.tags
    assert "<img" not in report(run, "md").replace("\\<", "")


def test_a_spike_is_drawn_however_many_steps_there_are() -> None:
    points = tuple((float(step), 900.0 if step == 12_345 else 1.0) for step in range(20_000))
    svg = chart_svg(Chart("Reward", (Series("reward", points, "ours"),)))
    top = min(float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", svg.split('class="ours"')[1]))
    flat = chart_svg(Chart("Reward", (Series("reward", points[:12_000], "ours"),)))
    assert top < 60.0
    assert len(flat) < len(svg) < 60_000
