"""What the user has said: by flag, or in rltop.toml. It beats whatever a log says or a table knows."""

from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, Field, model_validator
from pydantic_core import PydanticCustomError

from .looks import Looks
from .notifying import NotifySettings
from .step import COLUMNS
from .value import Value

RuleSetting = float | int | bool | str
Amount = Annotated[float, Field(ge=0, lt=1e12)]
"""Dollars, with the limits that flags have."""
Count = Annotated[int, Field(ge=1, le=10**9)]
"""Steps, GPUs or tokens: no run has more."""


class SettingsError(ValueError):
    """A setting cannot be used; the message is one line that names it."""


class TokenRates(Value):
    """The user's own rates, dollars per million tokens."""

    prefill: Amount
    sample: Amount
    train: Amount
    prefill_cached: Amount | None = None


def _known(name: str) -> str:
    if name not in COLUMNS:
        raise PydanticCustomError("quantity", f"no such quantity; known are {', '.join(COLUMNS)}")
    return name


Quantity = Annotated[str, AfterValidator(_known)]
"""The name of a canonical quantity of a step."""


class OwnKey(Value):
    """A raw key of the log, and what to multiply by to get our unit."""

    key: str = Field(min_length=1)
    factor: float = Field(default=1.0, gt=0, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, said: object) -> object:
        return {"key": said} if isinstance(said, str) else said


class RunSettings(Value):
    """Everything that changes what is computed, as it can also be said of some runs alone."""

    budget_usd: Amount | None = None
    fleet_budget_usd: Amount | None = None
    """Dollars that all runs of a fleet together may cost."""
    total_steps: Count | None = None
    max_tokens: Count | None = None
    model: str | None = None
    gpus: Count | None = None
    gpu_type: str | None = None
    usd_per_gpu_hour: Amount | None = None
    usd_per_kwh: Amount | None = None
    """Dollars per kilowatt-hour, for the energy that the GPUs take."""
    gpu_prices: dict[str, Amount] = {}
    """Dollars per GPU-hour by type, such as `B200`, for runs on different hardware."""
    token_rates: TokenRates | None = None
    deadline: AwareDatetime | None = None
    """When the run must have ended, with a time zone: `2026-12-01T08:00:00Z`."""
    prices_date: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}-\d{2}$")
    """Use the price book in force on this day, YYYY-MM-DD, instead of the day of the run."""
    alerts: dict[str, dict[str, RuleSetting]] = {}
    """Per rule: thresholds, `enabled`, `severity`."""
    keys: dict[Quantity, OwnKey] = {}
    """The raw key of the log that holds a canonical quantity: `"my/len"`, or `{ key = …, factor = … }`."""
    notify: NotifySettings = NotifySettings()


class Settings(RunSettings):
    """What is said of all runs, of some, and of the screen."""

    runs: dict[str, RunSettings] = {}
    """By a pattern of the run's name or path, such as `gsm8k-*`: what holds for those runs instead."""
    screen: Looks = Looks()
