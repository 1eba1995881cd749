"""Cumulative counters of the cookbook (0.6 on) as Totals, and what was discarded as the part of each step.

The one rule: a level that falls has been set back by a resume; nothing is ever charged twice or below zero.
"""

from collections.abc import Mapping

from ....models.event import Totals

_KINDS = {
    "discarded_sampled_tokens": ("tokens/discarded/sampled",),
    "discarded_prefill_tokens": ("tokens/discarded/prefill_uncached", "tokens/discarded/prefill_cached"),
    "discarded_trained_tokens": ("tokens/discarded/trained",),
}


def totals(levels: Mapping[str, float], step: int | None) -> Totals:
    """The counters of a row. Tokens and dollars since the run began, what a resume lost not included."""
    get = levels.get
    discarded = [levels[key] for keys in _KINDS.values() for key in keys if key in levels]
    return Totals(
        step=step,
        sampled_tokens=get("tokens/cumulative/sampled"),
        prefill_tokens=get("tokens/cumulative/prefill_uncached"),
        prefill_cached_tokens=get("tokens/cumulative/prefill_cached"),
        trained_tokens=get("tokens/cumulative/trained"),
        discarded_tokens=sum(discarded) if discarded else None,
        spent_usd=get("cost/cumulative_usd"),
        discarded_usd=get("cost/discarded_usd"),
    )


class Discards:
    """Work thrown away before training, per step, from the levels that are logged now and then."""

    def __init__(self) -> None:
        self._levels: dict[str, float] = {}
        self._at: list[tuple[int, dict[str, float]]] = []
        """(step, levels) at each change, to find the level that a checkpoint had."""
        self._pending: dict[str, float] = {}

    def see(self, levels: Mapping[str, float], step: int | None) -> None:
        """Levels of a row; what they grew by goes to the next step that is given."""
        for name, keys in _KINDS.items():
            if not any(key in levels for key in keys):
                continue
            level = sum(levels.get(key, 0.0) for key in keys)
            grown = level - self._levels.get(name, 0.0)
            if grown > 0:
                self._pending[name] = self._pending.get(name, 0.0) + grown
            self._levels[name] = level
        if step is not None and self._levels != (self._at[-1][1] if self._at else {}):
            self._at.append((step, dict(self._levels)))

    def take(self) -> dict[str, float]:
        """What was discarded since the last call, by canonical name, tokens."""
        taken, self._pending = self._pending, {}
        return taken

    def restart(self, from_step: int) -> None:
        """The run went back: its counters go on from what they were at the checkpoint."""
        while self._at and self._at[-1][0] >= from_step:
            self._at.pop()
        self._levels = dict(self._at[-1][1]) if self._at else {}
