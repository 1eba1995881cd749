"""What a row's keys prove about who wrote it: the kind of training and the cookbook's version. Pure.

The one rule: a key that a version or an algorithm alone writes is proof; nothing else is.
"""

from ....models.run import Algorithm
from .rows import Row

NEWEST = ">=0.6"
"""Counts tokens and dollars itself, and ends a run with an evaluation and a row of totals."""


def algorithm_of(row: Row) -> Algorithm | None:
    """What kind of training writes such a row."""
    told = row.told
    if "teacher_kl" in told or "sdft_datums" in told:
        return "distill"
    if "dpo_loss" in told or "num_pairs" in told:
        return "dpo"
    if "num_loss_tokens" in told or "nll" in told:
        return "sft"
    return "rl" if "reward" in told or "ac" in told else None


def version_of(row: Row) -> str | None:
    """The range of cookbook versions that write such a row; None for a loop written by hand."""
    told = row.told
    if row.levels or "ob_cached" in told or "billed_trained" in told:
        return NEWEST
    if "time/train_step" in told or "time/submit_batch" in told or "time/prepare_minibatch" in told:
        return "0.2-0.5"
    if "time/train" in told and "ac" in told:
        return "0.1"
    return None
