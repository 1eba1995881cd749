"""Where a line of a home-made training loop says that it is: `Step 3/100`, `Epoch 1 [10/391]`, `3/100 |`.

Its one rule: a place counts only with its separator, so that prose which mentions a step is none. What is
printed behind it is read by train_pairs.
"""

import re
from typing import NamedTuple

LOOKED_AT = 400
"""Letters of a line in which its place must stand."""

_OF = r"[ ]{0,8}(?:/|of)[ ]{0,8}"
_COUNT = rf"(?P<step>\d{{1,12}})(?:{_OF}(?P<total>\d{{1,12}}))?"
_EPOCH = (
    rf"\bEpoch\b[ :=#]{{0,3}}[\[(]?[ ]*(?P<epoch>\d{{1,6}})(?:{_OF}(?P<epochs>\d{{1,6}}))?[ ]*[\])]?"
    r"[ ]*[,|:;·-]{0,2}[ ]*"
)
_WORD = (
    r"(?:Global|Train|Training|Optimizer)?[ _]?(?:Step|Iteration|Iter|Update)"
    r"|Rollout(?=[ ]\d+:)|(?<=[,|:;· -])Batch|Batch(?=[ ]?[:#]?[ ]?\d+[ ]?/)"
)
_NAME = r"(?=[{'\"*]{0,2}[A-Za-z])"
_BEHIND = (
    r"[ ]*(?:[\])][ ]*)?"  # the bracket that the count stands in
    r"(?:[,|:;]|-+(?=[ ])|[–—→]|\*{1,3}|(?<=[\])])"
    r"|(?=[ ]+[A-Za-z_][\w./-]{0,40}[:=])"  # step=3 loss=0.5
    r"|(?=[ ]+[a-z_]{1,20}[ ][-+]?\d))[ ]*"  # step 3 loss 0.5
)

HINT = re.compile(r"step|iter|update|rollout|batch|epoch|\d/\d", re.IGNORECASE)
"""What every place has: most lines of a log have none of it."""
WITHIN = re.compile(
    rf"{_EPOCH}[\[(][ ]*(?P<step>\d{{1,12}})[ ]*/[ ]*(?P<total>\d{{1,12}})[ ]*[\])]"
    rf"[ ]*[,|:;·-]{{0,2}}[ ]*{_NAME}",
    re.IGNORECASE,
)
"""`Epoch:[1/2](20/4292), loss: …`, `Epoch: [0][10/391]  Loss …`: a place within an epoch."""
NAMED = re.compile(
    rf"(?:{_EPOCH})?\b(?:{_WORD})\b[ ]?[:=#]?[ ]*[\[(]?[ ]*{_COUNT}{_BEHIND}{_NAME}", re.IGNORECASE
)
"""`Step 3/100 | Loss: …`, `iter 10: loss …`, `[step 10] loss=…`, `step=10 loss=…`."""
BARE = re.compile(
    r"\s*(?:[\[(][^\])]{1,60}[\])]\s*|\d{4}-\d\d-\d\d\S*\s+(?:\d\d:\S+\s+)?){0,4}"
    rf"[\[(]?[ ]*(?P<step>\d{{1,12}})/(?P<total>\d{{1,12}})[ ]*(?:[\])][ ]*[|:,]?|[|:,])[ ]*{_NAME}"
)
"""`[run-a]  12/100 | loss=…`, `[12/100] loss=…`, at the beginning of a line only."""


class Place(NamedTuple):
    """Where the loop is."""

    step: int
    total: int | None
    epoch: int | None
    epochs: int | None
    within: bool
    """The step is counted within its epoch, as its form tells."""
    start: int
    """Where the place begins in the line."""
    end: int
    """Where the numbers begin that belong to it."""


def place_of(text: str) -> Place | None:
    """The place that a line tells, or None."""
    head = text[:LOOKED_AT]
    if HINT.search(head) is None:
        return None
    within = True
    match = WITHIN.search(head)
    if match is None:
        within = False
        match = NAMED.search(head)
    if match is None:
        match = BARE.match(head)
    if match is None:
        return None
    found = match.groupdict()
    step, total = int(found["step"]), _number(found["total"])
    return Place(
        step,
        total if total and total >= step else None,
        _number(found.get("epoch")),
        _number(found.get("epochs")),
        within,
        match.start("epoch") if found.get("epoch") else match.start("step"),
        match.end(),
    )


def _number(text: str | None) -> int | None:
    return int(text) if text else None
