"""Writes a long run as JSON lines, in two frameworks' ways, and as a console log."""

from pathlib import Path

from pydantic_core import to_json

from .run import rows

STARTED_AT, SECONDS = 1_790_000_000.0, 60.0
PREFIX = "\x1b[36m(TaskRunner pid=41277)\x1b[0m "
CHATTER = "(WorkerDict pid=48211) INFO 2026-01-01 00:00:00 rollout finished, padding 1024 responses to 1024\n"


def write_jsonl(path: Path, steps: int) -> None:
    """A row a step: its number, its time and the metrics, flat."""
    with path.open("wb") as file:
        for step, row in enumerate(rows(steps), start=1):
            known = {"step": step, "timestamp": STARTED_AT + SECONDS * step}
            more = {f"system/disk/device_{index}/written_mb_per_second": step * 0.37 for index in range(12)}
            file.write(to_json(known | row | more) + b"\n")


def write_file_logger(path: Path, steps: int) -> None:
    """As veRL's file logger does."""
    with path.open("wb") as file:
        for step, row in enumerate(rows(steps), start=1):
            more = {f"timing_s/agent_loop/tool_{index}/seconds/mean": step * 0.37 for index in range(12)}
            file.write(to_json({"step": step, "data": row | more}) + b"\n")


def write_console(path: Path, steps: int) -> None:
    """As veRL prints it through Ray, with a few lines of chatter a step."""
    with path.open("w", encoding="utf-8") as file:
        for step, row in enumerate(rows(steps), start=1):
            file.write(CHATTER * 6)
            file.write(
                f"{PREFIX}step:{step} - " + " - ".join(f"{key}:{v!r}" for key, v in row.items()) + "\n"
            )
