"""SLiME's `eval N` line as evaluations. Its one rule: one evaluation a data set."""

from collections.abc import Mapping

from ...models.step import Eval

PREFIX = "eval/"
LENGTH = "response_len/mean"


def evals_of(step: int, attempt: int, at: float | None, values: Mapping[str, float]) -> list[Eval]:
    """The evaluations of one line: `eval/aime` is a score, `eval/aime-pass@8` goes with it."""
    plain = [key.removeprefix(PREFIX) for key in values if key.startswith(PREFIX)]
    flat = [name for name in plain if "/" not in name]
    # A name that goes on after that of another, with a dash, is a quantity of it: aime-truncated_ratio.
    datasets = [name for name in flat if not any(name.startswith(f"{other}-") for other in flat)]
    scores: dict[str, dict[str, float]] = {name: {} for name in datasets}
    lengths: dict[str, float] = {}
    for rest in plain:
        owner = max((name for name in datasets if _belongs(rest, name)), key=len, default=None)
        if owner is None:
            owner = rest.split("/")[0]
            scores.setdefault(owner, {})
        quantity = rest[len(owner) + 1 :] or "score"
        value = values[PREFIX + rest]
        scores[owner][quantity] = value
        if quantity == LENGTH and value == value:
            lengths[owner] = value
    return [
        Eval(
            step=step,
            attempt=attempt,
            name=name,
            ended_at=at,
            scores=found,
            response_length_mean=lengths.get(name),
        )
        for name, found in scores.items()
    ]


def _belongs(rest: str, name: str) -> bool:
    return rest == name or rest.startswith((f"{name}-", f"{name}/"))
