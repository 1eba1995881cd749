"""From what the user typed to the sources of one run: look, recognise by content, open."""

import gzip
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from .lines import decoded
from .source import Format, Held, Probe, Source, Unreadable
from .sources import formats
from .wrapping import bare_text

HEAD_BYTES = 256 * 1024
TAIL_BYTES = 64 * 1024
ENOUGH = 0.05
"""Scores below this mean: not mine."""
ONE_RUN = 0.5
"""A folder with a lower score holds several runs, or something else besides."""
LIKELY = 0.15
"""A score below this means numbers by step, of which none is known: a dataset, a list of rollouts."""
CERTAIN = 0.9
"""A format that is this sure has seen what only its logs have."""
MAX_LOOKED_AT = 200
"""Files looked into when a folder is not a run folder itself."""
MAX_FOLDERS = 1000
"""Folders looked into on each level."""
MAX_DEPTH = 3
TRACEBACK = "Traceback (most recent call last)"
ERROR = re.compile(r"[A-Za-z_][\w.]{0,120}(?:Error|Exception|Interrupt|Exit)\b")
ERROR_LENGTH = 160
NO_STEP = "it failed before its first step"
MOST_OTHERS = 5
"""Logs that are named, and held against the likeliest, where a folder holds several."""


class TargetError(Exception):
    """The input cannot be used; the message is one line with the file, the reason and what to do."""


class SeveralRuns(TargetError):
    """A folder holds several runs where one is meant: to wait does not help."""


def probe(path: Path, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> Probe:
    """Look at a file or folder once, for all formats; of a file, at this much of its beginning and end.

    Raises:
        TargetError: it is not there, or may not be read.
    """
    try:
        if path.is_dir():
            return Probe(path=path, is_dir=True, names=tuple(sorted(os.listdir(path))))
        if path.exists() and not path.is_file():
            raise TargetError(f"{path}: not a regular file; pipe it in: rltop - < {path}")
        with path.open("rb") as file:
            head = file.read(head_bytes)
            size = file.seek(0, os.SEEK_END)
            tail = b""
            if size > head_bytes:
                file.seek(max(head_bytes, size - tail_bytes))
                tail = file.read(TAIL_BYTES)
    except FileNotFoundError:
        raise TargetError(f"{path}: no such file or folder") from None
    except OSError as error:
        raise TargetError(f"{path}: {error.strerror or error}") from None
    magic = head[:64]
    if head[:2] == b"\x1f\x8b":
        head, tail = _gunzipped(head), b""
    seen = Probe(path=path, is_dir=False, magic=magic)
    if seen.is_sqlite:
        return seen
    text = decoded(head)
    return Probe(
        path=path,
        is_dir=False,
        head=bare_text(text),
        tail=bare_text(decoded(tail, like=head), like=text) if tail else "",
        magic=magic,
    )


def recognise(seen: Probe) -> tuple[Format | None, float]:
    """The format that fits best, and how well (0 to 1).

    Raises:
        TargetError: it is of a known kind, but cannot be read now.
    """
    best, best_score = None, ENOUGH
    for form in formats():
        try:
            score = form.score(seen)
        except Unreadable as error:
            raise TargetError(str(error)) from None
        if score > best_score:
            best, best_score = form, score
        if score >= CERTAIN:
            break  # formats after this one need not even be imported
    return best, best_score if best else 0.0


def open_target(path: Path) -> Sequence[Source]:
    """The sources of the run at `path`.

    Raises:
        TargetError: it is not there, may not be read, is none of the known formats, or is several runs.
    """
    named, run = run_in(path)
    seen = probe(named)
    form, score = recognise(seen)
    if form is not None and run:
        if form.open_run is None:
            raise TargetError(f"{named}: is one run; leave out #{run}")
        try:
            return form.open_run(named, run)
        except Unreadable as error:
            raise TargetError(str(error)) from None
    if form is not None and not seen.is_dir:
        return form.open(path)
    if form is not None and score >= 0.5:
        from .fleet.beside import with_logs_below  # single files do not need it

        return with_logs_below(path, form, form.open(path))
    if seen.is_dir:
        return _open_inside(path)
    if not seen.head.strip() and not seen.magic.strip(b"\0"):
        raise TargetError(f"{path}: empty so far; `rltop {path}` waits for its first line")
    folder = path.absolute().parent
    if recognise(probe(folder))[1] >= ONE_RUN:
        raise TargetError(f"{path}: not a log of steps, but its folder is a run: rltop {path.parent}")
    tried = ", ".join(form.name for form in formats())
    raise TargetError(f"{path}: not a log that rltop knows (tried: {tried}); {_advice(seen)}")


def _advice(seen: Probe) -> str:
    """What would make a log readable, or why it cannot be one, in a few words."""
    text = seen.tail or seen.head
    if TRACEBACK in text:
        error = next((line for line in reversed(text.splitlines()) if ERROR.match(line)), "")
        return f"it failed before its first step: {error[:ERROR_LENGTH]}" if error else NO_STEP
    if seen.head.lstrip()[:1] in ("{", "["):
        return "a JSON row needs its step, as step, global_step or iteration, and numbers beside it"
    return "metrics of your own are read as JSONL or CSV with a step in each row"


def run_in(path: Path) -> tuple[Path, str]:
    """(file or folder, run) of `PATH#RUN`, by which one of several runs in one place is called; else ""."""
    named, sign, run = str(path).rpartition("#")
    return (Path(named), run) if sign and not path.exists() and Path(named).exists() else (path, "")


def runs_in(path: Path) -> Sequence[Held]:
    """The runs that a database holds; none of anything else, or where that cannot be seen now."""
    try:
        seen = probe(path)
        form = recognise(seen)[0] if seen.is_sqlite else None
        return form.runs(path) if form is not None and form.runs is not None else ()
    except (TargetError, Unreadable):
        return ()


def _open_inside(folder: Path) -> Sequence[Source]:
    """The one run that lies somewhere in a folder."""
    found: list[tuple[float, Path, Format]] = []
    folders: dict[Path, Format | None] = {}
    for path in _files_below(folder):
        try:
            form, score = recognise(probe(path))
        except TargetError:
            continue
        if form is not None:
            run = _run_of(path, form, folder, folders)
            if all(other != run for _, other, _ in found):
                found.append((score, run, form))
    if not found:
        raise TargetError(f"{folder}: no run among the first {MAX_LOOKED_AT} files, {MAX_DEPTH} levels deep")
    best = max(score for score, _, _ in found)
    runs = [(path, form) for score, path, form in found if score == best]
    if len(runs) > 1:
        names = ", ".join(str(path.relative_to(folder)) for path, _ in runs[:5])
        more = f" and {len(runs) - 5} more" if len(runs) > 5 else ""
        raise SeveralRuns(f"{folder}: holds {len(runs)} runs; name one of {names}{more}")
    path, form = runs[0]
    others = [other for other in found if other[1] != path and other[0] >= LIKELY]
    return _with_others(folder, path, form, others) if others else form.open(path)


def _with_others(
    folder: Path, path: Path, form: Format, others: Sequence[tuple[float, Path, Format]]
) -> Sequence[Source]:
    """The likeliest log of a folder, with what the others add to it; notes say which they are."""
    from .fleet.beside import Beside, with_others  # most folders hold one log

    others = sorted(others, key=lambda other: -other[0])[:MOST_OTHERS]
    beside = [Beside(str(log.relative_to(folder)), log, kind) for _, log, kind in others]
    return with_others(Beside(str(path.relative_to(folder)), path, form), beside)


def _run_of(path: Path, form: Format, top: Path, seen: dict[Path, Format | None]) -> Path:
    """The folder of the run that a log belongs to, where its format takes several files of one for a run."""
    run = path
    for place in path.parents:
        if place == top:
            break
        if place not in seen:
            try:
                seen[place], _ = recognise(probe(place))
            except TargetError:
                seen[place] = None
        if seen[place] is not form:
            break
        run = place
    return run


def _files_below(folder: Path) -> Iterator[Path]:
    """Regular files below a folder, nearest first; no links are followed."""
    left = MAX_LOOKED_AT
    level = [folder]
    for _ in range(MAX_DEPTH):
        deeper: list[Path] = []
        for place in level:
            try:
                entries = sorted(os.scandir(place), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    deeper.append(Path(entry.path))
                elif left > 0 and _may_be_a_log(entry):
                    left -= 1
                    yield Path(entry.path)
        level = deeper[:MAX_FOLDERS]


def _may_be_a_log(entry: "os.DirEntry[str]") -> bool:
    """A regular file that is not empty; what a kernel shows as files is both, and may never end."""
    try:
        return entry.is_file() and entry.stat().st_size > 0
    except OSError:
        return False


def _gunzipped(head: bytes) -> bytes:
    """As much of a gzip file's beginning as its first bytes hold."""
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, HEAD_BYTES)
    except (zlib.error, gzip.BadGzipFile):
        return b""
