"""The base of every value: frozen, and strict about fields it does not know."""

from typing import Any, cast

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticSerializationError, to_json


def utf8(value: object) -> object:
    """A dumped value that can be written: Python reads stray bytes of a file name as half characters."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {utf8(key): utf8(one) for key, one in cast("dict[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [utf8(one) for one in cast("list[object]", value)]
    return value


class Value(BaseModel):
    """Base for everything in models/."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null", defer_build=True)

    def model_dump_json(self, **how: Any) -> str:
        """JSON, in which a file name that is no UTF-8 has `?` where it is not."""
        try:
            return super().model_dump_json(**how)
        except PydanticSerializationError:
            indent = how.pop("indent", None)
            return to_json(utf8(self.model_dump(**how)), indent=indent, inf_nan_mode="null").decode()


class Quantiles(Value):
    """An 80 % interval and its middle; the unit is the one of the quantity it stands for."""

    p10: float
    p50: float
    p90: float
