"""What an Event message of TensorBoard says. Its one rule: what does not fit is BadWire, nothing else.

Sources: tensorflow/core/util/event.proto, core/framework/summary.proto and tensor.proto.
"""

from typing import NamedTuple

from .protowire import Fields, fields_of, floats_of


class Said(NamedTuple):
    """The contents of one message."""

    step: int
    at: float
    """Unix seconds."""
    scalars: list[tuple[str, float]]
    texts: list[tuple[str, str]]
    """(tag, text) of what was logged as text."""


def said(message: bytes) -> Said:
    """The scalars and texts of a message.

    Raises:
        BadWire: it is no message.
    """
    event = fields_of(message)
    told = Said(event.integer(2) or 0, event.double(1) or 0.0, [], [])
    for summary in event.all_bytes(5):
        for value in fields_of(summary).all_bytes(1):
            fields = fields_of(value)
            tag = fields.text(1)
            if tag is None:
                continue
            number = fields.single(2)
            if number is None and (payload := fields.payload(8)) is not None:
                tensor = fields_of(payload)
                number = _number(tensor)
                if number is None:
                    told.texts.extend((tag, text) for text in tensor.all_text(8))
            if number is not None:
                told.scalars.append((tag, number))
    return told


def _number(tensor: Fields) -> float | None:
    """The one number of a tensor, as TF2 writes scalars; None where it holds more, or none."""
    kind = tensor.integer(1)
    layout = {1: ("<f", 5), 2: ("<d", 6)}.get(kind or 0)
    if layout is not None:
        content = tensor.payload(4)
        numbers = floats_of(content, layout[0]) if content else tensor.packed(layout[1], layout[0])
        return numbers[0] if len(numbers) == 1 else None
    if kind in (3, 9):
        content = tensor.payload(4)
        if content:
            whole = floats_of(content, "<i" if kind == 3 else "<q")
        else:
            whole = [float(number) for number in tensor.integers(7 if kind == 3 else 10)]
        return whole[0] if len(whole) == 1 else None
    return None
