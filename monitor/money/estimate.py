"""What a run would cost before it starts, on Tinker and on GPUs of one's own. Pure.

The one rule: the middle of the range is the plain formula with the growth that was given; the range is what
growth has been measured to do, and nothing else.
"""

from collections.abc import Callable

from ...models.estimate import Estimate, EstimateInputs, SelfHostedEstimate, TinkerEstimate
from ...models.money import Bill
from ...models.run import RunInfo
from ...models.settings import Settings
from ...models.value import Quantiles
from .book import Book
from .cards import BILLION, ModelCard, card_of
from .flops import FORWARD, TERA, step_flops, work_of
from .meters import TokenSums, known_usd, rates_of
from .pricing import Pricing, resolve
from .volume import Volume, volume

GROWTH = (0.52, 1.00, 2.04)
"""P10, P50, P90 of last over first response length, over 61 public runs (docs/cost-model.md)."""


def estimate(inputs: EstimateInputs, book: Book) -> Estimate:
    """Both platforms side by side."""
    low, middle, high = (volume(inputs, inputs.growth * factor) for factor in GROWTH)
    volumes = (low, middle, high)
    notes: list[str] = []
    tinker = _tinker(inputs, volumes, book, notes) if inputs.platform != "self-hosted" else None
    hosted = _self_hosted(inputs, volumes, book, notes) if inputs.platform != "tinker" else None
    break_even = None
    if tinker is not None and hosted is not None and hosted.usd is not None and tinker.usd.p50 > 0:
        share = inputs.mfu * hosted.usd.p50 / tinker.usd.p50
        break_even = share if 0 < share <= 1 else None
        if share > 1:
            notes.append("at no MFU do these GPUs cost less than Tinker")
    return Estimate(
        tinker=tinker, self_hosted=hosted, inputs=inputs, break_even_mfu=break_even, notes=tuple(notes)
    )


def _tinker(
    inputs: EstimateInputs, volumes: tuple[Volume, Volume, Volume], book: Book, notes: list[str]
) -> TinkerEstimate | None:
    pricing = token_pricing(inputs.model, Settings(token_rates=inputs.price, prices_date=inputs.prices), book)
    rates = rates_of(pricing)
    if not rates:
        notes.append(f"Tinker: {pricing.why_unpriced}")
        return None
    notes += [note for note in pricing.notes if inputs.prices is not None]
    if inputs.caching != "none" and pricing.rates is not None and pricing.rates.prefill_cached is None:
        notes.append("Tinker: cached prompt tokens had no rate of their own then, and were billed as prefill")
    sums = TokenSums()
    sums.add(volumes[1].tokens)
    return TinkerEstimate(
        usd=_over(volumes, lambda each: known_usd(each.tokens, rates) or 0.0),
        meters=Bill(meters=tuple(sums.meters(rates))).meters,
        price_book=pricing.ref,
    )


def token_pricing(model: str | None, settings: Settings, book: Book, at: float | None = None) -> Pricing:
    """The pricing of an RL run of this model on Tinker."""
    return resolve(RunInfo(platform="tinker", algorithm="rl", model=model), settings, at, book)


def _self_hosted(
    inputs: EstimateInputs, volumes: tuple[Volume, Volume, Volume], book: Book, notes: list[str]
) -> SelfHostedEstimate | None:
    if inputs.gpus is None or inputs.gpu_type is None:
        if inputs.platform == "self-hosted" or inputs.gpus or inputs.gpu_type:
            notes.append("self-hosted: give --gpus and --gpu-type")
        return None
    gpu, card = book.gpu(inputs.gpu_type), _card(inputs)
    if gpu is None or gpu.bf16_tflops is None:
        notes.append(f"self-hosted: the peak of {inputs.gpu_type} is not known")
        return None
    if card is None:
        notes.append(f"self-hosted: the size of {inputs.model} is not known, give --active-params-b")
        return None
    rate = gpu.usd_per_hour if inputs.usd_per_gpu_hour is None else inputs.usd_per_gpu_hour
    if rate is None:
        notes.append(f"self-hosted: no price for an hour of {gpu.name}, give --usd-per-gpu-hour")
    elif inputs.usd_per_gpu_hour is None:
        notes.append(f"self-hosted: ${rate:g} per {gpu.name}-hour is a default of {gpu.date}")
    per_gpu_hour = gpu.bf16_tflops * TERA * inputs.mfu * 3600
    gpu_hours = _over(volumes, lambda each: run_flops(inputs, card, each) / per_gpu_hour)
    return SelfHostedEstimate(
        usd=None if rate is None else _scaled(gpu_hours, rate),
        gpu_hours=gpu_hours,
        hours=_scaled(gpu_hours, 1 / inputs.gpus),
    )


def run_flops(inputs: EstimateInputs, card: ModelCard, each: Volume) -> float:
    """FLOPs of all steps and evaluations: generate, old log-prob, reference, update; evaluations generate."""
    info = RunInfo(
        framework="verl", algorithm="rl", lora_rank=inputs.lora_rank, reference_pass=inputs.reference_pass
    )
    length = each.sequence_length
    training = step_flops(work_of(info), card, each.batch_tokens, length)
    return training + FORWARD.flops(card, each.eval_tokens, length)


def _card(inputs: EstimateInputs) -> ModelCard | None:
    if inputs.active_params_b is None:
        return card_of(inputs.model)
    active = inputs.active_params_b * BILLION
    return ModelCard(name=inputs.model, active=active, total=active, source="given by the user")


def _over(volumes: tuple[Volume, Volume, Volume], figure: Callable[[Volume], float]) -> Quantiles:
    low, middle, high = map(figure, volumes)
    return Quantiles(p10=low, p50=middle, p90=high)


def _scaled(quantiles: Quantiles, factor: float) -> Quantiles:
    return Quantiles(p10=quantiles.p10 * factor, p50=quantiles.p50 * factor, p90=quantiles.p90 * factor)
