"""What lies beside a SwanLab log: the run's configuration and its machine, in `files`. Read at swanlab 0.10.

Its one rule: of YAML it reads what SwanLab writes - block mappings down to scalars - and passes over the
rest. A package for the whole of YAML would serve this one file.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic_core import from_json

from ...models.run import ConfigValue, RunInfo

CONFIG, MACHINE = "config.yaml", "swanlab-metadata.json"
LARGEST = 4 * 1024 * 1024
_KEY = re.compile(
    r"""(?:'((?:[^']|'')*)'|"((?:[^"\\]|\\.)*)"|((?!- |\? |\#)[^'"\s].*?)):(?:[ ]+(.*))?$""", re.DOTALL
)
_DIGITS = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = dict(zip("0abtnvfreN_LP", "\0\a\b\t\n\v\f\r\x1b\x85\xa0\u2028\u2029", strict=True))
_KNOWN: Mapping[str, ConfigValue] = {"null": None, "~": None, "": None, "true": True, "false": False}


@dataclass(slots=True)
class _Entry:
    """A key with what stands behind it, which may go on in the next lines."""

    indent: int
    path: tuple[str, ...]
    text: str

    @property
    def is_open(self) -> bool:
        """Whether a quote is not closed yet."""
        mark = self.text[:1]
        if mark == "'":
            return len(re.findall("'", self.text)) % 2 == 1
        return mark == '"' and re.fullmatch(r'"(?:[^"\\]|\\.)*"', self.text, re.DOTALL) is None


class Beside:
    """The files beside one log, looked at again when they have changed."""

    def __init__(self, log: Path) -> None:
        self._folder = log.parent / "files"
        self._seen: dict[str, tuple[int, int]] = {}

    def config(self) -> dict[str, ConfigValue]:
        """The configuration, flattened with dots; empty where there is nothing new."""
        text = self._news(CONFIG)
        return dict(config_of(text)) if text else {}

    def machine(self) -> list[RunInfo]:
        """What the machine that logs has for GPUs. Other machines are not in the log."""
        text = self._news(MACHINE)
        names = _gpus(text) if text else []
        if not names:
            return []
        note = f"SwanLab saw {len(names)} × {names[0]} on the host that logs; other hosts are not in its log"
        return [RunInfo(gpu_type=names[0], notes=(note,))]

    def _news(self, name: str) -> str:
        path = self._folder / name
        try:
            about = path.stat()
            state = (about.st_mtime_ns, about.st_size)
            if self._seen.get(name) == state or about.st_size > LARGEST:
                return ""
            with path.open("rb") as file:
                data = file.read(LARGEST)
        except OSError:
            return ""
        self._seen[name] = state
        return data.decode("utf-8", "replace")


def config_of(text: str) -> Iterator[tuple[str, ConfigValue]]:
    """(key, value) of each scalar under the `value` of SwanLab's entries; lists are passed over."""
    for entry in _entries(text.split("\n")):
        key, *inner = entry.path
        if inner[:1] == ["value"] and entry.text not in ("[]", "{}"):
            yield ".".join((key, *inner[1:])), _scalar(entry.text)


def _entries(lines: Iterable[str]) -> Iterator[_Entry]:
    """The entries that hold a scalar."""
    entry: _Entry | None = None
    places: list[tuple[int, str]] = []
    in_list: int | None = None
    for line in lines:
        content = line.strip(" \r")
        indent = len(line) - len(line.lstrip(" "))
        if entry is not None:
            if entry.is_open or (content and indent > entry.indent):
                entry.text = _joined(entry.text, content)
                continue
            yield entry
            entry = None
        if not content or content.startswith("#"):
            continue
        is_item = content == "-" or content.startswith("- ")
        if in_list is not None and (indent > in_list or (is_item and indent == in_list)):
            continue
        in_list = indent if is_item else None
        found = None if is_item else _KEY.match(content)
        if found is None:
            continue
        while places and places[-1][0] >= indent:
            places.pop()
        places.append((indent, _name(found)))
        if found[4]:
            entry = _Entry(indent, tuple(name for _, name in places), found[4])
    if entry is not None:
        yield entry


def _joined(text: str, content: str) -> str:
    """A scalar with its next line: an empty line stands for the end of one, others are one text."""
    if not content:
        return f"{text}\n"
    if text.endswith("\\") and text[:1] == '"':
        return text[:-1] + content
    return f"{text}{'' if text.endswith(chr(10)) else ' '}{content}"


def _name(found: "re.Match[str]") -> str:
    single, double, plain, _ = found.groups()
    if single is not None:
        return single.replace("''", "'")
    return _unescaped(double) if double is not None else plain


def _scalar(text: str) -> ConfigValue:
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    if text[:1] == '"':
        return _unescaped(text[1:-1])
    if text in _KNOWN:
        return _KNOWN[text]
    if not _DIGITS.fullmatch(text):
        return text
    try:
        return int(text) if text.lstrip("-+").isdigit() else float(text)
    except ValueError:  # a whole number of more digits than Python takes
        return text


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_meant, text)


def _meant(found: "re.Match[str]") -> str:
    code = found[1] or found[2] or found[3]
    if not code:
        return _ESCAPED.get(found[4], found[4])
    return chr(int(code, 16)) if int(code, 16) <= sys.maxunicode else found[0]


def _gpus(text: str) -> list[str]:
    """Names of the GPUs: `hardware.accelerators` of version 2, `gpu` of version 1."""
    try:
        document: object = from_json(text)
    except ValueError:
        return []
    names: list[object] = []
    for accelerator in _list(_part(_part(document, "hardware"), "accelerators")):
        names += [_part(device, "name") for device in _list(_part(accelerator, "devices"))]
    makers = _part(document, "gpu")
    for maker in cast("dict[str, object]", makers).values() if isinstance(makers, dict) else ():
        names += _list(_part(maker, "type"))
    return [name for name in names if isinstance(name, str) and name]


def _part(document: object, name: str) -> object:
    return cast("Mapping[str, object]", document).get(name) if isinstance(document, dict) else None


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
