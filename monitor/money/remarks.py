"""What a bill leaves out, adds or bounds: one line each, so that nobody takes the sum for more than it is."""

from ...models import text
from ..state import RunState
from .meters import TokenSums, rates_of
from .pricing import GIVE_PRICE, Pricing

NO_PRICE = f"no price for this run: {GIVE_PRICE}"
NO_TOKENS = "the log has no token counts: there is nothing to price"
NO_TIMES = "the log has no times: hours cannot be counted"
LEFT_OUT = "left out: checkpoint storage, failed requests and rollouts in flight"


def metered(pricing: Pricing, sums: TokenSums, state: RunState, evals_untold: int) -> tuple[str, ...]:
    """Remarks on a bill made of token counts and prices."""
    notes = list(pricing.notes)
    if not sums.counts:
        return tuple(notes)
    if state.history.trained_upper_bound:
        notes.append("trained tokens are an upper bound: turns of one episode share their prefix")
    if pricing.algorithm in ("rl", "ppo", "distill"):
        told = {
            "sampled": sums.told("sample"),
            "prompt": sums.told("prefill") or sums.told("prefill_cached"),
            "trained": sums.told("train"),
        }
        missing = [kind for kind, there in told.items() if not there]
        if missing:
            notes.append(f"left out: {' and '.join(missing)} tokens, which the log does not count")
    has_cached_rate = pricing.rates is not None and pricing.rates.prefill_cached is not None
    if has_cached_rate and sums.told("prefill") and not sums.told("prefill_cached"):
        notes.append("prefill is an upper bound: the log does not count cache hits, which cost less")
    notes += _scoring(pricing, sums)
    if pricing.algorithm == "dpo" and not sums.told("scoring"):
        notes.append("left out: the reference model's scoring, which the log does not count")
    if state.totals is not None and state.totals.discarded_tokens and not sums.told("discarded"):
        notes.append(
            f"left out: {text.tokens(state.totals.discarded_tokens)} discarded tokens of unknown kind"
        )
    notes += _evals(pricing, evals_untold)
    if pricing.platform == "tinker":
        notes.append(LEFT_OUT)
    return tuple(notes)


def logged(
    pricing: Pricing,
    sums: TokenSums,
    *,
    priced: bool,
    ours_usd: float | None,
    theirs_usd: float,
    evals_untold: int,
) -> tuple[str, ...]:
    """Remarks on a bill that the framework has kept itself; `ours_usd` is the same work by our meters."""
    notes = list(pricing.notes)
    if ours_usd is not None and theirs_usd > 0:
        off = abs(ours_usd / theirs_usd - 1)
        notes.append(f"by our own meters {text.usd(ours_usd)} ({100 * off:.2f} % off)")
    elif not priced:
        notes.append("not split by meter: the framework logs one sum, and the model's rates are not known")
    if not priced and (sums.told("eval_sample") or sums.told("eval_prefill")):
        count = sums.tokens("eval_sample") + sums.tokens("eval_prefill")
        notes.append(
            f"left out: evaluations ({text.tokens(count)} tokens), {pricing.why_unpriced or NO_PRICE}"
        )
    notes += _evals(pricing, evals_untold)
    notes.append(LEFT_OUT)
    return tuple(notes)


def _scoring(pricing: Pricing, sums: TokenSums) -> list[str]:
    if not sums.told("scoring") or ("scoring", "scored_tokens") in rates_of(pricing):
        return []
    teacher = pricing.teacher_model
    why = f"no price for {teacher}" if teacher else "the log does not name the teacher"
    return [f"left out: the teacher's scoring ({text.tokens(sums.tokens('scoring'))} tokens), {why}"]


def _evals(pricing: Pricing, untold: int) -> list[str]:
    if not untold or pricing.platform != "tinker":
        return []
    return [f"left out: {untold} evaluation{'s' if untold > 1 else ''} without token counts"]
