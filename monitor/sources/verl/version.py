"""Tells the veRL version from the shape of its metrics, since what a step time includes depends on it."""

from collections.abc import Mapping

from .shape import shape_of

BEFORE_03 = "<=0.2"
EARLY = "<=0.4.1"
V05 = "0.5"
V06 = "0.6-0.7.0"
V071 = "0.7.1-0.8"
V1 = "0.9"
"""The trainer that is the default from 0.9.0 on."""


def version_of(values: Mapping[str, float], rounded: bool, numpy: bool, v1: bool) -> str | None:
    """The version or span of versions, or None where the shape does not tell.

    `v1`: the log names the trainer of 0.9, by the actor's name or in its config.
    Source: the keys as introduced in the released versions 0.1 to 0.9.1.
    """
    shape = shape_of(values)
    if v1 or shape.v1:
        return V1
    if shape.timed_early:
        return BEFORE_03
    if rounded and shape.actor:
        return EARLY
    if "timing_s/step" not in values:
        return None
    if "timing_s/update_weights" in values:
        return V071
    if "response/aborted_ratio" in values or "response_length_non_aborted/mean" in values:
        return V06
    return None if numpy else V05
