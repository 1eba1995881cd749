"""The same tokens on the other platform, and the MFU at which the two would cost the same. Pure.

The one rule: only work is compared. Start-up, idle time and set-up are no property of a token, and are named.
"""

from collections.abc import Iterator

from ...models import text
from ...models.money import GpuPrice, WhatIf
from .book import Book
from .cards import card_of
from .estimate import token_pricing
from .flops import FORWARD, TERA, step_flops, work_of
from .meters import Count, known_usd, rates_of
from .pricing import price_of
from .question import Question, Run

USUAL_MFU = 0.10
"""Whole-step MFU of a well set-up RL job, for a run that has none of its own."""
USUAL_GPU = "B200"


def platforms(run: Run, spent: float, book: Book, asked: Question) -> Iterator[WhatIf]:
    """The same tokens on the other platform, and where the two would cost the same."""
    tinker_usd = _tinker_usd(run, book) if run.hosted else spent
    if run.hosted and tinker_usd is not None:
        yield WhatIf(
            name="on-tinker",
            label="the same tokens on Tinker",
            usd=tinker_usd,
            difference_usd=tinker_usd - spent,
            how="sampled, prompt and trained tokens at the list price, nothing cached",
        )
        measured = run.mfu
        if measured is not None and tinker_usd > 0:
            yield from _break_even(measured * spent / tinker_usd, tinker_usd, tinker_usd - spent)
    gpu, flops = _gpu_asked(run, book, asked), run_flops(run)
    rate = None if gpu is None else _rate(run, gpu, book, asked)
    if gpu is not None and flops is not None and rate is not None:
        yield from _on_gpus(run, spent, flops, gpu, rate, asked)


def why_not_on_gpus(run: Run, book: Book, asked: Question) -> str | None:
    """What is missing for a figure on the GPUs asked about; None where nothing is or none were."""
    name = _type_asked(run, asked)
    if name is None:
        return None
    gpu = book.gpu(name)
    if gpu is None or gpu.bf16_tflops is None:
        return f"nothing to say of {name}: its peak FLOP/s is not known; see `rltop prices list`"
    if _rate(run, gpu, book, asked) is None:
        return f"no price for an hour of {name}: give --usd-per-gpu-hour"
    if card_of(run.info.model) is None:
        return f"nothing to say of other GPUs: the size of {run.info.model or 'the model'} is not known"
    return "nothing to say of other GPUs: the log has no token counts" if run_flops(run) is None else None


def _type_asked(run: Run, asked: Question) -> str | None:
    if asked.gpu_type is not None:
        return asked.gpu_type
    if not run.hosted:
        return USUAL_GPU
    own = run.ledger.pricing.gpu
    return own.name if own is not None and asked.mfu is not None else None


def _gpu_asked(run: Run, book: Book, asked: Question) -> GpuPrice | None:
    name = _type_asked(run, asked)
    gpu = None if name is None else book.gpu(name)
    return gpu if gpu is not None and gpu.bf16_tflops is not None else None


def _rate(run: Run, gpu: GpuPrice, book: Book, asked: Question) -> float | None:
    """Dollars per GPU-hour: the one asked about, the user's for this type, or the table's."""
    if asked.usd_per_gpu_hour is not None:
        return asked.usd_per_gpu_hour
    own = run.ledger.pricing
    if own.gpu == gpu and own.usd_per_gpu_hour is not None:
        return own.usd_per_gpu_hour
    said = price_of(run.settings, gpu.name, gpu, book)
    return gpu.usd_per_hour if said is None else said


def _on_gpus(
    run: Run, spent: float, flops: float, gpu: GpuPrice, rate: float, asked: Question
) -> Iterator[WhatIf]:
    if gpu.bf16_tflops is None:
        return
    mfu = asked.mfu or run.mfu or USUAL_MFU
    gpu_hours_at_peak = flops / (gpu.bf16_tflops * TERA) / 3600
    usd = rate * gpu_hours_at_peak / mfu
    wall = text.duration(gpu_hours_at_peak / mfu / asked.gpus * 3600)
    whose = "given" if asked.mfu else "measured" if run.mfu else "usual"
    yield WhatIf(
        name="on-gpus",
        label=f"the same tokens on {asked.gpus} × {gpu.name}",
        usd=usd,
        difference_usd=usd - spent,
        how=f"whole-step MFU {text.percent(mfu)} ({whose}), ${rate:g} per GPU-hour, {wall}; "
        "start-up and idle apart",
    )
    if not run.hosted and spent > 0:
        yield from _break_even(rate * gpu_hours_at_peak / spent, spent, 0.0)


def _break_even(mfu: float, usd: float, difference_usd: float) -> Iterator[WhatIf]:
    if 0 < mfu <= 1:
        yield WhatIf(
            name="break-even-mfu",
            label=f"GPUs and Tinker cost the same at {text.percent(mfu)} whole-step MFU",
            usd=usd,
            difference_usd=difference_usd,
            how="above it one's own GPUs are cheaper, start-up and idle time apart",
        )


def run_flops(run: Run) -> float | None:
    """FLOPs that this run's tokens take on GPUs of one's own: the log-prob and reference passes included."""
    card = card_of(run.info.model)
    episodes, trained = run.total("episodes"), run.tokens("train")
    tokens = run.total("total_tokens")
    if not tokens:
        merged = trained and not run.state.history.trained_upper_bound
        tokens = trained + episodes if merged else run.tokens("sample") + run.prompt_tokens
    if card is None or not tokens:
        return None
    algorithm = run.info.algorithm or "rl"
    hosted = run.info.model_copy(update={"framework": "verl", "algorithm": algorithm})
    length = tokens / episodes if episodes else 0.0
    evals = run.tokens("eval_sample") + run.tokens("eval_prefill")
    return step_flops(work_of(hosted), card, tokens, length) + FORWARD.flops(card, evals, length)


def _tinker_usd(run: Run, book: Book) -> float | None:
    """The run's tokens at Tinker's price; None where the model or a count is not known."""
    settings = run.settings.model_copy(update={"token_rates": None})
    rates = rates_of(token_pricing(run.info.model, settings, book, run.priced_at))
    sampled, prompt = run.tokens("sample"), run.prompt_tokens
    if not rates or not sampled or not prompt:
        return None
    trained = run.tokens("train") or sampled + prompt - run.total("episodes")
    tokens: dict[Count, float] = {
        ("sample", "sampled_tokens"): sampled,
        ("prefill", "prefill_tokens"): prompt,
        ("train", "trained_tokens"): trained,
        ("eval_sample", "sampled_tokens"): run.tokens("eval_sample"),
        ("eval_prefill", "prefill_tokens"): run.tokens("eval_prefill"),
    }
    return known_usd(tokens, rates)
