"""FLOPs of a step, and the share of the hardware's peak that they come to (MFU).

The one rule: MFU counts the FLOPs that the mathematics needs, so recomputing activations does not count, and
a model or GPU that is not in the tables gives None.

Sources: 2 FLOPs per parameter and token forward, 4 backward (Kaplan et al. 2020; PaLM, appendix B); a frozen
base needs no weight gradient, so LoRA's backward is 2; veRL's own formula is in verl/utils/flops_counter.py.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ...models.run import RunInfo
from ..history import Row
from .book import Book
from .cards import ModelCard, card_of

TERA = 1e12


@dataclass(frozen=True, slots=True)
class Work:
    """What a phase does with each token of the batch."""

    linear: float
    """FLOPs per active parameter and token."""
    passes: float
    """Attention FLOPs, in causal forward passes."""

    def flops(self, card: ModelCard, tokens: float, length: float) -> float:
        """FLOPs over `tokens` tokens in sequences of `length` (mean, prompt and response)."""
        return tokens * (self.linear * card.active + self.passes * card.attention_flops(length))


FORWARD = Work(2, 1)
TRAIN_FULL = Work(6, 3)
TRAIN_LORA = Work(4, 3)
"""Gradients flow through the frozen weights (2 + 2) but are not taken of them; the adapter is small."""


def work_of(info: RunInfo, seen: Collection[str] = ()) -> dict[str, Work]:
    """What each phase of a step does, by the run's facts and the phases `seen` in its log.

    Where the log does not say, training is of all weights (the frameworks' default), and a reference or
    critic pass counts only when it was seen. Every model in the step is taken to be as large as the policy.
    """
    train = TRAIN_LORA if info.lora_rank else TRAIN_FULL
    if info.algorithm == "sft":
        return {"update": train}
    if info.algorithm == "dpo":
        return {"ref": FORWARD, "update": train}
    work = {"generate": FORWARD, "update": train}
    if "old_logprob" in seen or info.framework == "verl":
        work["old_logprob"] = FORWARD
    if info.reference_pass or (info.reference_pass is None and "ref" in seen):
        work["ref"] = FORWARD
    if info.algorithm == "ppo" or "update_critic" in seen:
        work["values"] = FORWARD
        work["update_critic"] = train
    return work


def step_flops(work: Mapping[str, Work], card: ModelCard, tokens: float, length: float) -> float:
    """FLOPs of a whole step over `tokens` prompt and response tokens."""
    return sum(phase.flops(card, tokens, length) for phase in work.values())


def whole_step_mfu(row: Row, info: RunInfo, book: Book) -> float | None:
    """MFU over the step without its evaluations and checkpoints, 0 to 1; None where anything is unknown.

    A figure above 1 is impossible: then some fact is wrong, and nothing can be said.
    """
    duration = row.get("duration_s")
    if duration is None:
        return None
    apart = (row.phase("eval") or 0.0) + (row.phase("checkpoint") or 0.0)
    facts = _facts(row, info, book)
    if facts is None:
        return None
    card, peak, tokens, length = facts
    return _share(step_flops(work_of(info, row.phases()), card, tokens, length), duration - apart, peak)


def phase_mfu(row: Row, info: RunInfo, book: Book) -> dict[str, float]:
    """MFU within each phase whose seconds and work are known, 0 to 1."""
    facts = _facts(row, info, book)
    if facts is None:
        return {}
    card, peak, tokens, length = facts
    seconds = row.phases()
    shares = {
        name: _share(work.flops(card, tokens, length), seconds[name], peak)
        for name, work in work_of(info, seconds).items()
        if name in seconds
    }
    return {name: share for name, share in shares.items() if share is not None}


def corrected_mfu(logged: float | None, info: RunInfo, length: float | None) -> float | None:
    """veRL's `perf/mfu/actor` with LoRA and the embedding counted as they are; still of the update alone.

    veRL takes 6 FLOPs per parameter whatever is trained, counts the embedding table twice, and up to 0.7.0
    took attention as if it were not causal. A logged 0 means a GPU that veRL does not know, and more than 1
    is impossible: both give None.

    Args:
        logged: as in the log, 0 to 1.
        length: mean tokens per sequence, prompt and response.
    """
    card = card_of(info.model)
    if not logged or not 0 < logged <= 1 or card is None or card.embedding is None:
        return None
    train = TRAIN_LORA if info.lora_rank else TRAIN_FULL
    true = train.flops(card, 1.0, length or 0.0)
    attention = card.attention_flops(length or 0.0) / card.full_attention
    causal = 1 if _causal(info.framework_version) else 2
    claimed = 6 * (card.active + card.embedding) + 3 * causal * attention
    return logged * true / claimed


def _causal(version: str | None) -> bool:
    """Whether this veRL halves attention for causality: from 0.7.1 on, and where the version is not known."""
    numbers = re.findall(r"\d+(?:\.\d+)+", version or "")
    if not numbers or (version or "").startswith(">"):
        return True
    return tuple(int(part) for part in numbers[-1].split("."))[:3] >= (0, 7, 1)


def _facts(row: Row, info: RunInfo, book: Book) -> tuple[ModelCard, float, float, float] | None:
    """(card, peak FLOP/s of all GPUs, tokens of the step, mean tokens per sequence)."""
    card, tokens, length = card_of(info.model), tokens_of(row), sequence_length(row)
    gpu = book.gpu(info.gpu_type) if info.gpu_type else None
    if card is None or tokens is None or gpu is None or gpu.bf16_tflops is None or not info.gpus:
        return None
    return card, info.gpus * gpu.bf16_tflops * TERA, tokens, length or 0.0


def tokens_of(row: Row) -> float | None:
    """Prompt and response tokens of a step's batch."""
    total = row.get("total_tokens")
    if total is not None:
        return total
    sampled, prefill = row.get("sampled_tokens"), row.get("prefill_tokens")
    if sampled is None or prefill is None:
        return row.get("trained_tokens")
    return sampled + prefill + (row.get("prefill_cached_tokens") or 0.0)


def sequence_length(row: Row) -> float | None:
    """Mean tokens per sequence, prompt and response."""
    tokens, episodes = tokens_of(row), row.get("episodes")
    if tokens and episodes:
        return tokens / episodes
    response = row.get("response_length_mean")
    return None if response is None else response + (row.get("prompt_length_mean") or 0.0)


def _share(flops: float, seconds: float, peak: float) -> float | None:
    if seconds <= 0 or flops <= 0:
        return None
    share = flops / (seconds * peak)
    return share if share <= 1 else None
