"""Cuts a byte stream into lines. Its one rule: the lines do not depend on how the bytes were cut into chunks.

Only `\\n` ends a line, with or without `\\r` before it. A lone `\\r` (a progress bar drawn over itself)
stays in the text. What is complete in a chunk is decoded in one go: `\\n` is never part of another
UTF-8 character, so that gives the same text as decoding line by line, several times faster.
"""

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain, count, repeat

from .source import Chunk, Line

LONGEST_BYTES = 64 * 1024 * 1024
"""What lies beyond in one line is dropped, so that a file without line ends does not eat the memory."""
BOM = "\ufeff"
WIDE = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""What PowerShell's `>` and `Tee-Object` write."""


def decoded(data: bytes, like: bytes = b"") -> str:
    """The text of a piece of a file that begins with `like`, or is itself the beginning."""
    codec = WIDE.get((like or data)[:2], "utf-8")
    return data.decode(codec, "replace").removeprefix(BOM)


class Lines:
    """The lines of one stream.

    `number` is that of the last line given; `overlong` counts the lines that were cut at `longest` bytes.
    """

    def __init__(self, longest: int = LONGEST_BYTES) -> None:
        self.number = 0
        self.overlong = 0
        self._longest = longest
        self._parts: list[bytes] = []
        """The unfinished last line. Joined only when complete: joining at each chunk would be quadratic."""
        self._held = 0
        self._cut = False
        self._begun = False
        self._wide: codecs.IncrementalDecoder | None = None
        self._at: float | None = None
        self._told: int | None = None
        """Length of the unfinished line when `flush` gave it."""

    @property
    def tail_given(self) -> bool:
        """Whether `flush` has given the unfinished last line, which `number` does not count yet."""
        return self._told is not None

    def feed(self, chunk: Chunk) -> Iterator[Line]:
        """The lines that end in this chunk, each with the time of the chunk."""
        data = chunk.data
        if not self._begun and data:
            self._begun = True
            codec = WIDE.get(data[:2])
            self._wide = codecs.getincrementaldecoder(codec)("replace") if codec else None
        if self._wide is not None:
            data = self._wide.decode(data).encode("utf-8", "replace")
        if b"\0" in data:  # a log truncated under its writer has a hole of NULs before the next line
            data = data.translate(None, b"\0")  # in a hole, many times as fast as replace()
        last_end = data.rfind(b"\n")
        if last_end < 0:
            self._hold(data, chunk.at)
            return iter(())
        first: Iterable[Line] = ()
        start = 0
        if self._parts:
            end = data.find(b"\n")
            self._hold(data[:end], chunk.at)
            first = self._finish()
            start = end + 1
        lines = self._whole(data[start:last_end], chunk.at) if start <= last_end else iter(())
        self._hold(data[last_end + 1 :], chunk.at)
        return chain(first, lines)

    def flush(self) -> Iterator[Line]:
        """The unfinished last line, if there is one that was not given yet.

        Should it go on after all, the whole of it is given again under the same number.
        """
        if self._held and self._told is None:
            self._told = self._held
            yield Line(self._text(b"".join(self._parts), self.number + 1), self._at, self.number + 1)

    def restart(self) -> None:
        """The stream starts again: the unfinished line is void and counting begins anew."""
        self.number = 0
        self._begun, self._wide = False, None
        self._clear()

    def _hold(self, data: bytes, at: float | None) -> None:
        room = self._longest - self._held
        if len(data) > room:
            self._cut = True
            data = data[:room]
        if data:
            self._parts.append(data)
            self._held += len(data)
        self._at = at

    def _finish(self) -> Iterable[Line]:
        """The held line, now that its end has come."""
        raw = b"".join(self._parts)
        told = self._told is not None and len(raw.rstrip(b"\r")) <= self._told
        self.number += 1
        self.overlong += self._cut
        at = self._at
        self._clear()
        return () if told else (Line(self._text(raw, self.number), at, self.number),)

    def _clear(self) -> None:
        self._parts.clear()
        self._held = 0
        self._cut = False
        self._told = None

    def _whole(self, block: bytes, at: float | None) -> Iterator[Line]:
        """The lines of a block that ends where its last line does."""
        first = self.number + 1
        if len(block) > self._longest:
            raws = block.split(b"\n")
            self.overlong += sum(len(raw) > self._longest for raw in raws)
            texts = [self._text(raw[: self._longest], first + index) for index, raw in enumerate(raws)]
        else:
            text = block.decode("utf-8", "replace")
            if "\r" in text:
                text = text.replace("\r\n", "\n").removesuffix("\r")
            if first == 1:
                text = text.removeprefix(BOM)
            texts = text.split("\n")
        self.number += len(texts)
        return map(Line._make, zip(texts, repeat(at), count(first)))  # no Python call a line

    def _text(self, raw: bytes, number: int) -> str:
        text = raw.decode("utf-8", "replace").removesuffix("\r")
        return text.removeprefix(BOM) if number == 1 else text
