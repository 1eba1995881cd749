"""What the user has said: by flag, or in rltop.toml. It beats whatever a log says or a table knows."""

from .value import Value

RuleSetting = float | int | bool | str


class TokenRates(Value):
    """The user's own rates, dollars per million tokens."""

    prefill: float
    sample: float
    train: float
    prefill_cached: float | None = None


class Settings(Value):
    """Everything that changes what is computed. How it looks is the screen's own matter."""

    budget_usd: float | None = None
    total_steps: int | None = None
    max_tokens: int | None = None
    model: str | None = None
    gpus: int | None = None
    gpu_type: str | None = None
    usd_per_gpu_hour: float | None = None
    token_rates: TokenRates | None = None
    prices_date: str | None = None
    """Use the price book in force on this day, YYYY-MM-DD, instead of the day of the run."""
    alerts: dict[str, dict[str, RuleSetting]] = {}
    """Per rule: thresholds, `enabled`, `severity`."""
