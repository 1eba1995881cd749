"""What the far side is asked, in the shell that every machine has, and what its answers mean.

Its one rule: nothing is written, started for good, or installed there. Needed are sh, find, stat (of GNU,
busybox or BSD), sort, head and tail; file names may hold anything but line breaks.
"""

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

MAX_DEPTH = 6
"""Of folders below the target: an experiment store has its metrics that deep."""
MOST_LISTED = 5000
LARGEST_COPY_BYTES = 32 * 1024 * 1024
"""For files that are only of use whole."""

WANTED = (
    *("*.jsonl*", "*.json", "*.log*", "*.txt", "*.out", "*.err", "*.csv", "*.yaml", "*.yml"),
    *("*.wandb", "*.swanlab", "*tfevents*", "*.gz", "*/metrics/*"),
)
"""Logs, metrics and configurations by name, and names without a dot; the rest stays where it is."""
PASSED_BY = (
    *(".git", ".cache", ".venv", "venv", "node_modules", "__pycache__", "site-packages", "huggingface"),
    *("global_step_*", "iter_[0-9]*"),
)
"""Folders of weights and of programs."""
_USELESS = re.compile(
    r"tokenizer.*|vocab.*|merges.*|special_tokens_map\.json|added_tokens\.json|generation_config\.json"
    r"|.*\.index\.json|.*_logtree\.json|eval_.*_rollout_summaries\.jsonl|.*\.tar\.gz"
    r"|\d+\.jsonl",  # what was sampled, a file a step
    re.DOTALL,
)
_WHOLE = re.compile(r".*(?:\.json|\.yaml|\.yml|\.gz|_rollout_summaries\.jsonl)", re.DOTALL)
"""Written anew rather than grown, or of no use in part."""
_LINKS = ("latest-run", "wandb/latest-run")
"""Links to folders that are followed: what W&B calls its newest run."""
_NUMBER = re.compile(r"[0-9]{1,18}")
_BESIDE = ("config.json", "metrics.jsonl", "checkpoints.jsonl", "logs.log", "files/config.yaml")
"""What belongs to a file of a run that was named alone."""

_ROLLOUTS = "./iteration_*/train_rollout_summaries.jsonl"

PROLOGUE = r"""
LC_ALL=C; export LC_ALL
o=-c; f='%i %s %Y %F %n'
stat -L -c %i / >/dev/null 2>&1 || { o=-f; f='%i %z %m %HT %N'; }
b={base}
kind() {
  if [ -d "$b" ]; then echo folder
  elif [ -f "$b" ]; then if [ -r "$b" ]; then echo file; else echo denied; fi
  elif [ -e "$b" ]; then echo other
  else echo missing; ls -d "$b" 2>&1 </dev/null | tail -n 1
  fi
}
list() {
  cd "$1" 2>/dev/null || return 9
  date +%s
  shift
  find . "$@" -exec stat -L "$o" "$f" {} + </dev/null 2>/dev/null | sort -k 3,3nr | head -n {most}
}
latest() {
  cd "$b" 2>/dev/null || return 9
  for l in {links}; do
    if [ -L "$l" ]; then echo "$l"; readlink "$l"; fi
  done </dev/null
}
part() {
  [ -r "$3" ] || return 9
  tail -c "+$1" "$3" </dev/null 2>/dev/null | head -c "$2"
}
p=$(dirname "$b" </dev/null)
:"""


class Entry(NamedTuple):
    """A file on the far side."""

    name: str
    """Relative to the folder that was listed, without `./`."""
    inode: str
    size: int
    modified_at: float
    """Unix seconds, by the far side's clock."""


class Listing(NamedTuple):
    """A look at a folder."""

    now: float
    """Unix seconds, by the far side's clock."""
    entries: tuple[Entry, ...]
    complete: bool
    """Whether what is not listed is not there."""


def prologue(base: str) -> str:
    """What the shell needs to know first; `base` is the target as a word."""
    known = PROLOGUE.replace("{most}", str(MOST_LISTED)).replace("{links}", " ".join(_LINKS))
    return known.replace("{base}", base)


def list_folder() -> str:
    """List the wanted files of the target, a folder; newest first."""
    wanted = _any("-path", [glob if glob.startswith("*/") else f"*/{glob}" for glob in WANTED])
    return f'(list "$b" {_find(wanted + " -o ! -name " + shlex.quote("*.*"))})'


def list_beside(name: str) -> str:
    """List a file that is the target, its kin by name, and what belongs to it."""
    kin = [f"./{_escaped(name)}", f"./{_escaped(name)}.*"]
    beside = [f"./{known}" for known in _BESIDE] + [_ROLLOUTS, "./.hydra/*.yaml"]
    if "tfevents" in name:
        beside.append("./*tfevents*")
    return f'(list "$p" {_find(_any("-path", [*kin, *beside]), depth=2)})'


def read_part(name: str, offset: int, count: int) -> str:
    """Up to `count` bytes of a listed file from `offset` on; status 9 where it may not be read."""
    return f"part {offset + 1} {count} {shlex.quote(f'./{name}')}"


def go_to_folder() -> str:
    """From here on files are read where they were listed."""
    return 'if [ -d "$b" ]; then cd "$b"; else cd "$p"; fi'


def parse_listing(data: bytes, target: str | None = None) -> Listing | None:
    """The answer to a listing; None where it is none. Lines that make no sense are passed by.

    `target` is the file that the user has named: it is wanted whatever it is called, and however large it is.
    """
    first, _, rest = data.partition(b"\n")
    if not _NUMBER.fullmatch(first.decode("ascii", "replace").strip()):
        return None
    found = [entry for line in rest.split(b"\n") if (entry := _entry(line)) is not None]
    of_use = tuple(entry for entry in found if entry.name == target or _is_of_use(entry))
    return Listing(float(first), of_use, complete=rest.count(b"\n") < MOST_LISTED)


def parse_link(data: bytes) -> Sequence[tuple[str, str]]:
    """(link, what it points to) for links to a folder beside them; others are not followed."""
    lines = data.decode("utf-8", "surrogateescape").splitlines()
    pairs = [
        (link, to.rstrip("/").rpartition("/")[2]) for link, to in zip(lines[::2], lines[1::2], strict=False)
    ]
    return [(link, to) for link, to in pairs if link in _LINKS and is_safe(to) and to not in link.split("/")]


def is_whole(name: str) -> bool:
    """Whether a file is only of use whole."""
    return _WHOLE.fullmatch(name) is not None


def is_safe(name: str) -> bool:
    """Whether a name can stand below the mirror's folder, and nowhere else."""
    parts = name.split("/")
    return bool(name) and "\0" not in name and not any(part in ("", ".", "..") for part in parts)


def _entry(line: bytes) -> Entry | None:
    facts, found, name = line.decode("utf-8", "surrogateescape").partition(" ./")
    words = facts.split(" ", 3)
    if not found or len(words) != 4 or not all(_NUMBER.fullmatch(word) for word in words[:3]):
        return None
    if not words[3].lower().startswith("regular") or not is_safe(name):
        return None
    return Entry(name, words[0], int(words[1]), float(words[2]))


def _is_of_use(entry: Entry) -> bool:
    if _USELESS.fullmatch(entry.name.rpartition("/")[2]):
        return False
    return not is_whole(entry.name) or entry.size <= LARGEST_COPY_BYTES


def _find(wanted: str, depth: int = MAX_DEPTH) -> str:
    """find's own words, quoted for the shell."""
    pruned = _any("-name", PASSED_BY)
    return (
        f"-maxdepth {depth} \\( {pruned} \\) -prune -o "
        f"\\( -type f -o -type l \\) \\( {wanted} \\) ! -path '*\n*'"
    )


def _any(test: str, globs: Sequence[str]) -> str:
    return " -o ".join(f"{test} {shlex.quote(glob)}" for glob in globs)


def _escaped(name: str) -> str:
    return re.sub(r"([*?\[\]\\])", r"\\\1", name)
