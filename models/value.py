"""The base of every value: frozen, and strict about fields it does not know."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """Base for everything in models/."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class Quantiles(Value):
    """An 80 % interval and its middle; the unit is the one of the quantity it stands for."""

    p10: float
    p50: float
    p90: float
