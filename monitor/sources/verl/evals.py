"""Makes evaluations of the validation metrics that veRL logs beside a step or alone before the first.

Its one rule: one evaluation a data source, and the time that all of them took is told once.
"""

from collections.abc import Iterable, Mapping

from ....models.step import Eval

PREFIXES = ("val-core/", "val-aux/", "val/test_score/", "test_score/", "val/")
"""Longer ones first: `test_score/` up to 0.2, `val/test_score/` up to 0.3, `val-…` later; SFT `val/loss`."""
NEUTRAL = frozenset({"training/global_step", "training/epoch", "timing_s/testing", "timing/testing"})
NOT_A_SOURCE = ("num_turns",)
TRAINING = (
    "actor/",
    "critic/",
    "train/",
    "timing_s/",
    "timing/",
    "response_length/",
    "perf/",
    "global_seqlen/",
)


def is_eval_key(key: str) -> bool:
    """Whether a metric belongs to validation."""
    return key.startswith(PREFIXES)


def is_training(keys: Iterable[str], step: int) -> bool:
    """Whether a line with these keys tells of a training step, rather than of validation alone."""
    if step:
        return any(key not in NEUTRAL and not key.startswith(PREFIXES) for key in keys)
    return any(key.startswith(TRAINING) and key not in NEUTRAL for key in keys)


def evals_of(values: Mapping[str, float], step: int, attempt: int, at: float | None) -> list[Eval]:
    """The evaluations in the metrics of one line, their scores under veRL's names without the source."""
    scores: dict[str, dict[str, float]] = {}
    core: set[str] = set()
    for key, value in values.items():
        if not key.startswith(PREFIXES):
            continue
        prefix = next(prefix for prefix in PREFIXES if key.startswith(prefix))
        source, score = _split(prefix, key.removeprefix(prefix))
        if source in NOT_A_SOURCE:
            continue
        scores.setdefault(source, {})[score] = value
        if prefix != "val-aux/":
            core.add(source)
    seconds = values.get("timing_s/testing", values.get("timing/testing"))
    names = [name for name in scores if name in core] + [name for name in scores if name not in core]
    return [
        Eval(
            step=step,
            attempt=attempt,
            name=name,
            ended_at=at,
            duration_s=seconds if index == 0 else None,
            scores=scores[name],
        )
        for index, name in enumerate(names)
    ]


def _split(prefix: str, rest: str) -> tuple[str, str]:
    """(data source, score): `openai/gsm8k/acc/mean@1` is `acc/mean@1` on `openai/gsm8k`."""
    if prefix in ("val/test_score/", "test_score/"):
        return rest or "test", "test_score"
    parts = rest.split("/")
    metric = next((i for i in range(len(parts) - 1, -1, -1) if "@" in parts[i]), None)
    if metric is not None and metric >= 2:
        return "/".join(parts[: metric - 1]), "/".join(parts[metric - 1 :])
    if len(parts) > 1:
        return "/".join(parts[:-1]), parts[-1]
    return "val", rest
