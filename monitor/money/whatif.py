"""What a run would cost if one thing were otherwise: caching, platform, evaluations, an earlier end. Pure.

The one rule: a what-if starts from what was measured; one that lacks a measure is left out, not guessed.
"""

from collections.abc import Iterator

from ...models import text
from ...models.money import WhatIf
from .book import Book
from .platforms import platforms, why_not_on_gpus
from .question import Question, Run

CACHED_SHARE = 0.2
"""Cached over full prefill price where the price list has no cached rate: Tinker's since July 2026."""


def whatifs(run: Run, book: Book, question: Question | None = None) -> tuple[WhatIf, ...]:
    """Every what-if that this run's measures allow, in a fixed order."""
    spent = run.bill.spent_usd
    if spent is None:
        return ()
    asked = question or Question()
    return (
        *_cached_in_group(run, spent),
        *_cached_across_turns(run, spent),
        *platforms(run, spent, book, asked),
        *_half_evals(run, spent),
        *_stops(run, spent, asked),
    )


def _cached_in_group(run: Run, spent: float) -> Iterator[WhatIf]:
    """One rollout of a group pays for the prompt, the others read it from the cache (single turn)."""
    size, prefill_usd = run.info.group_size, run.usd("prefill")
    if not size or size < 2 or not prefill_usd or run.tokens("prefill_cached") or run.turns != 1:
        return
    saved = prefill_usd * (1 - 1 / size) * (1 - _cached_share(run))
    yield WhatIf(
        name="group-cached",
        label="with the group's prompt cached",
        usd=spent - saved,
        difference_usd=-saved,
        how=f"{size - 1} of {size} rollouts pay {text.percent(_cached_share(run))} of the prefill price",
    )


def _cached_across_turns(run: Run, spent: float) -> Iterator[WhatIf]:
    """Each turn pays in full only for what it adds to the context."""
    turns, prefill, episodes = run.turns, run.tokens("prefill"), run.total("episodes")
    if turns is None or turns <= 1 or not run.usd("prefill") or not episodes or run.tokens("prefill_cached"):
        return
    trained = run.tokens("train")
    if trained and not run.state.history.trained_upper_bound:
        # An episode trains on its last context and reply less one token; the last context holds all turns.
        new = trained - run.tokens("sample") / turns + episodes
        how = "new tokens are the last context of each episode, from the trained tokens"
    else:
        new = 2 * prefill / (turns + 1)
        how = (
            f"if contexts grow evenly over {text.number(turns)} turns, the last is 2/(turns + 1) of their sum"
        )
    saved = run.usd("prefill") * max(0.0, 1 - new / prefill) * (1 - _cached_share(run))
    yield WhatIf(
        name="turns-cached",
        label="with earlier turns cached",
        usd=spent - saved,
        difference_usd=-saved,
        how=how,
    )


def _half_evals(run: Run, spent: float) -> Iterator[WhatIf]:
    evals = run.usd("eval_sample") + run.usd("eval_prefill")
    if run.hosted:
        per_hour = run.ledger.pricing.usd_per_hour or 0.0
        evals = per_hour * run.ledger.phases.seconds.get("eval", 0.0) / 3600
    if evals <= 0:
        return
    yield WhatIf(
        name="half-evals",
        label="with half the evaluations",
        usd=spent - evals / 2,
        difference_usd=-evals / 2,
        how=f"evaluations have cost {text.usd(evals)}",
    )


def _stops(run: Run, spent: float, asked: Question) -> Iterator[WhatIf]:
    final = run.projection.final_usd
    at_end = spent if run.over or final is None else final.p50
    if not run.over:
        yield WhatIf(
            name="stop-now",
            label="stopping now",
            usd=spent,
            difference_usd=spent - at_end,
            how=f"against {text.usd(at_end)} at the end, the middle of the projection",
        )
    step = asked.plateau_step
    by_then = None if step is None else _spent_by(run, spent, step)
    if by_then is not None:
        yield WhatIf(
            name="stop-at-plateau",
            label=f"stopping at step {step}" + (", the reward flat" if asked.plateau_seen else ""),
            usd=by_then,
            difference_usd=by_then - at_end,
            how="the bill less what the steps after it have cost",
        )


def _spent_by(run: Run, spent: float, step: int) -> float | None:
    """Dollars spent when `step` had first been done; None where the run has not gone past it."""
    steps = run.state.history.steps
    after = next((row for row in range(min(len(run.spent_usd), len(steps))) if steps[row] > step), 0)
    if after == 0:
        return None
    saved = run.spent_usd[-1] - run.spent_usd[after - 1]
    return spent - saved if 0 <= saved <= spent else None


def unanswered(run: Run, book: Book, asked: Question) -> tuple[str, ...]:
    """One line for each thing that was asked for and cannot be told, with what is missing."""
    found = {one.name for one in whatifs(run, book, asked)}
    lines: list[str] = []
    if asked.plateau_step is not None and "stop-at-plateau" not in found:
        lines.append(f"nothing to say of stopping at step {asked.plateau_step}: the run has not gone past it")
    if "on-gpus" not in found and (why := why_not_on_gpus(run, book, asked)) is not None:
        lines.append(why)
    return tuple(lines)


def _cached_share(run: Run) -> float:
    rates = run.ledger.pricing.rates
    if rates is None or rates.prefill_cached is None or rates.prefill <= 0:
        return CACHED_SHARE
    return rates.prefill_cached / rates.prefill
