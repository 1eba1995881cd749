"""What a run is priced with: the user's word first, then the book at the run's time.

The one rule: what neither the user, the log nor the book knows stays unpriced, with one line that says how to
give it.
"""

from dataclasses import dataclass, replace

from ...models.money import GpuPrice, PriceBookRef, TokenPrice
from ...models.run import Algorithm, Platform, RunInfo
from ...models.settings import Settings
from .book import Book

GIVE_PRICE = "give --price PREFILL,SAMPLE,TRAIN (USD per million tokens)"
USER = "user"
"""Provider of a price that the user gave."""


@dataclass(frozen=True, slots=True)
class Pricing:
    """All that a ledger needs; equal when nothing about the dollars has changed."""

    platform: Platform = "unknown"
    algorithm: Algorithm | None = None
    model: str | None = None
    rates: TokenPrice | None = None
    """Also set for a self-hosted run for which the user gave nothing but token rates."""
    teacher_model: str | None = None
    teacher: TokenPrice | None = None
    gpus: int | None = None
    gpu: GpuPrice | None = None
    """The row of the GPU table, with or without a price."""
    usd_per_gpu_hour: float | None = None
    max_tokens: int | None = None
    group_size: int | None = None
    lora_rank: int | None = None
    by_gpu_hours: bool = False
    """Whether GPU-hours, and not tokens, make the bill."""
    ref: PriceBookRef | None = None
    """The list that the price is from; None for the user's own."""
    why_unpriced: str | None = None
    """One line: what is missing and how to give it. Tinker's own logged dollars do not need it."""
    notes: tuple[str, ...] = ()

    @property
    def usd_per_hour(self) -> float | None:
        """What a wall hour of the whole job costs; None where tokens are billed or the price is unknown."""
        if not self.by_gpu_hours or self.gpus is None or self.usd_per_gpu_hour is None:
            return None
        return self.gpus * self.usd_per_gpu_hour


def resolve(info: RunInfo, settings: Settings, at: float | None, book: Book) -> Pricing:
    """The pricing of a run that ran at `at` (unix s); `settings.prices_date` beats `at`."""
    platform = info.platform or "unknown"
    model = settings.model or info.model
    gpu_type = settings.gpu_type or info.gpu_type
    common = Pricing(
        platform=platform,
        algorithm=info.algorithm,
        model=model,
        teacher_model=info.teacher_model,
        gpus=settings.gpus or info.gpus,
        gpu=book.gpu(gpu_type) if gpu_type else None,
        max_tokens=settings.max_tokens or info.max_tokens,
        group_size=info.group_size,
        lora_rank=info.lora_rank,
    )
    if platform == "tinker":
        return _by_tokens(common, settings, at, book)
    by_hours = _by_gpu_hours(common, settings, gpu_type, book)
    if by_hours.why_unpriced is None and (platform == "self-hosted" or settings.usd_per_gpu_hour is not None):
        return by_hours
    if settings.token_rates is not None:
        return _by_tokens(common, settings, at, book)
    if platform == "self-hosted":
        return by_hours
    return replace(
        common,
        why_unpriced="the log does not say where the run is billed: give --price PREFILL,SAMPLE,TRAIN, "
        "or --gpus and --usd-per-gpu-hour",
    )


def listed(pricing: Pricing, settings: Settings) -> TokenPrice | None:
    """The row of the book by which tokens are billed; None where the user has chosen a price or a day."""
    rates = pricing.rates
    if rates is None or pricing.by_gpu_hours or rates.provider == USER or settings.prices_date is not None:
        return None
    return rates


def _by_tokens(common: Pricing, settings: Settings, at: float | None, book: Book) -> Pricing:
    """Per token, by the user's rates or by the book."""
    model, date = common.model, settings.prices_date
    teacher = book.token_price(common.teacher_model, at, date) if common.teacher_model else None
    if settings.token_rates is not None:
        rates = TokenPrice(
            provider=USER,
            model=model or "",
            effective_from="",
            source="given by the user",
            **settings.token_rates.model_dump(),
        )
        return replace(common, rates=rates, teacher=teacher, notes=("token prices given by the user",))
    if model is None:
        why = "the log does not name the model: give --model, or --price PREFILL,SAMPLE,TRAIN"
        return replace(common, teacher=teacher, why_unpriced=why)
    rates = book.token_price(model, at, date)
    if rates is None:
        return replace(common, teacher=teacher, why_unpriced=f"no price for {model}: {GIVE_PRICE}")
    why = None if rates.train is not None else f"no training price for {model} is known: {GIVE_PRICE}"
    return replace(
        common,
        rates=rates,
        teacher=teacher,
        ref=PriceBookRef(date=rates.effective_from, source=rates.source),
        why_unpriced=why,
        notes=tuple(p.note for p in (rates, teacher) if p is not None and p.note),
    )


def _by_gpu_hours(common: Pricing, settings: Settings, gpu_type: str | None, book: Book) -> Pricing:
    """Per GPU-hour, by the user's price or by the GPU table."""
    gpu, notes, ref = common.gpu, (), None
    usd = settings.usd_per_gpu_hour
    if usd is None and gpu_type is not None:
        usd = price_of(settings, gpu_type, gpu, book)
    if usd is None and gpu is not None and gpu.usd_per_hour is not None:
        usd = gpu.usd_per_hour
        ref = PriceBookRef(date=gpu.date, source=gpu.source)
        weak = ", a weak figure" if gpu.weak else ""
        notes = (
            f"${usd:g} per {gpu.name}-hour is a default{weak}: prices differ several-fold, "
            "so give yours with --usd-per-gpu-hour",
        )
    return replace(
        common,
        usd_per_gpu_hour=usd,
        by_gpu_hours=True,
        ref=ref,
        notes=notes,
        why_unpriced=_missing_for_hours(common.gpus, usd, gpu_type),
    )


def price_of(settings: Settings, gpu_type: str, gpu: GpuPrice | None, book: Book) -> float | None:
    """The user's own price of this type, under the log's name for it or under the table's."""
    for name, usd in settings.gpu_prices.items():
        row = book.gpu(name)
        if name == gpu_type or (gpu is not None and row is not None and row.name == gpu.name):
            return usd
    return None


def _missing_for_hours(gpus: int | None, usd: float | None, gpu_type: str | None) -> str | None:
    if usd is None:
        if gpu_type is None:
            return "GPU type not in the log: give --gpu-type or --usd-per-gpu-hour"
        return f"no price for an hour of {gpu_type}: give --usd-per-gpu-hour"
    return None if gpus is not None else "number of GPUs not in the log: give --gpus"
