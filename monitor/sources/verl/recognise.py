"""Recognises what veRL wrote, by what it says and never by what it is called."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ...lines import decoded
from ...source import Probe
from ...wrapping import bare_text
from . import hydra
from .filelogger import read_line
from .rayline import without_colour

STEP = re.compile(r"(?<![\w/.])step:\d+ - [\w-]+/")
_RUNNER = r"(?:\(Runner pid=\d+[^)]*\) )?"
EASYR1 = re.compile(rf"^{_RUNNER}Step \d+\s*\n{_RUNNER}(?:actor|critic|val):\s*$", re.MULTILINE)
DUMP = re.compile(r"\{'actor_rollout_ref': ?\{")
SURE = 0.97
SIGNS: tuple[tuple[float, re.Pattern[str]], ...] = (
    (0.9, re.compile(r"-m verl\.trainer\.|verl/trainer/(?:main_|ppo/|fsdp_sft|sft_)")),
    (0.8, re.compile(r"\((?:TaskRunner(?:V1)?|main_task|FullyAsync\w+|OneStepTaskRunner) pid=\d+")),
    (0.7, re.compile(r"^Using LocalLogger is deprecated", re.MULTILINE)),
    (0.6, re.compile(r"\((?:\w+ )?WorkerDict pid=\d+")),
)
NOT_A_LOG = re.compile(r"\s*(?:#|\"\"\"|import |from \w|set -\w|- [\w.+]+=|[\w-]+:\n)")
"""How scripts and configurations begin, which name veRL too."""
METRIC = re.compile(
    r"(?:actor|critic|train|val|val-core|val-aux|timing_s|perf|response_length|global_seqlen|training)/"
)
HEAD_BYTES, TAIL_BYTES = 256 * 1024, 64 * 1024
MOST_FILES = 64


def console_score(probe: Probe) -> float:
    """How surely a file is a veRL console."""
    if probe.is_dir or "\0" in probe.head[:4096] or _is_json(probe.head):
        return 0.0
    text = probe.head + "\n" + probe.tail
    if STEP.search(text) or DUMP.search(text) or ("Step " in text and EASYR1.search(without_colour(text))):
        return SURE
    if NOT_A_LOG.match(text):
        return 0.0
    return max((score for score, sign in SIGNS if sign.search(text)), default=0.0)


def file_logger_score(probe: Probe) -> float:
    """How surely a file was written by veRL's file logger."""
    if probe.is_dir or not probe.head.lstrip().startswith('{"step"'):
        return 0.0
    read = read_line(probe.head.lstrip().partition("\n")[0])
    if read is None:
        return 0.0
    return SURE if any(METRIC.match(key) for key in read[1]) else 0.4


def folder_score(probe: Probe) -> float:
    """How surely a folder is that of one veRL run."""
    if not probe.is_dir:
        return 0.0
    logs = consoles(probe.path)
    if sum(has_steps for _, _, has_steps in logs) > 1:
        return 0.3  # several runs, or several logs of one: the user has to say which
    scores = [score for _, score, _ in logs] + [score for _, score in file_loggers(probe.path)]
    if hydra_folder(probe.path) is not None:
        scores.append(0.7)
    return 0.98 * max(scores, default=0.0)


def consoles(folder: Path) -> list[tuple[Path, float, bool]]:
    """The consoles directly in a folder, best first: (path, score, whether it has steps)."""
    found: list[tuple[Path, float, bool]] = []
    for path in islice(_files(folder), MOST_FILES):
        look = probe_file(path)
        if look is not None and (score := console_score(look)) > 0:
            has_steps = STEP.search(look.head) or STEP.search(look.tail)
            found.append((path, score, has_steps is not None))
    return sorted(found, key=lambda item: (not item[2], -item[1], -_modified_at(item[0])))


def file_loggers(folder: Path) -> list[tuple[Path, float]]:
    """The file logger's files in a folder or as `<root>/<project>/<experiment>.jsonl` below, newest first."""
    paths: list[Path] = []
    for pattern in ("*.jsonl", "*/*.jsonl", "*/*/*.jsonl"):
        try:
            paths += islice(sorted(folder.glob(pattern)), MOST_FILES)
        except OSError:
            continue
    found = [
        (path, score)
        for path in paths[:MOST_FILES]
        if (look := probe_file(path)) is not None and (score := file_logger_score(look)) > 0
    ]
    return sorted(found, key=lambda item: (-item[1], -_modified_at(item[0])))


def hydra_folder(folder: Path) -> Path | None:
    """The `.hydra` folder in a folder, where it holds a veRL configuration."""
    inside = folder / hydra.FOLDER
    flat = hydra.read_folder(inside)
    known = any(key.startswith("actor_rollout_ref.") or key == "model.partial_pretrain" for key in flat)
    return inside if known else None


def probe_file(path: Path) -> Probe | None:
    """The head and tail of a regular file; None where it cannot be read."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            size = file.seek(0, 2)
            file.seek(max(HEAD_BYTES, size - TAIL_BYTES))
            tail = file.read(TAIL_BYTES)
    except OSError:
        return None
    text = decoded(head)
    end = bare_text(decoded(tail, like=head), like=text) if tail else ""
    return Probe(path, False, bare_text(text), end, (), head[:64])


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(path for path in folder.iterdir() if path.is_file())
    except OSError:
        return


def _is_json(head: str) -> bool:
    return head.lstrip()[:2] in ('{"', "[{")


def _modified_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
