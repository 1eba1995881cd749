"""Numbers with a given sum, and noise around them."""

import math
import random
from collections.abc import Sequence
from itertools import pairwise


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Whole numbers in the proportion of `weights` whose sum is exactly `total`."""
    scale = total / sum(weights)
    bounds = [0]
    running = 0.0
    for weight in weights:
        running += weight * scale
        bounds.append(round(running))
    return [after - before for before, after in pairwise(bounds)]


def wobble(rng: random.Random, count: int, sd: float, memory: float = 0.5) -> list[float]:
    """Factors around 1: autocorrelated noise of relative size `sd`."""
    value, factors = 0.0, list[float]()
    for _ in range(count):
        value = memory * value + rng.gauss(0.0, sd) * math.sqrt(1 - memory**2)
        factors.append(math.exp(value))
    return factors
