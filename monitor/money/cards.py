"""Model cards: how many parameters a token meets, and what attention costs.

The one rule: a model is known by its exact name, wherever its files lie; it is never guessed from a likeness.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic_core import from_json

BILLION = 1e9


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Sizes of a model, in parameters. None where the configuration is not known."""

    name: str
    active: float
    """Matrix parameters that a token meets: body, router, active experts and the language-model head.

    Not the embedding lookup, which multiplies nothing.
    """
    total: float
    source: str
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    """Query heads: grouping keys and values saves memory, not attention FLOPs."""
    head_dim: int | None = None
    vocab: int | None = None
    full_attention: float = 1.0
    """Share of the layers in which a token attends to the whole sequence."""

    def attention_flops(self, length: float) -> float:
        """FLOPs per token of one causal forward pass over sequences of `length` tokens, scores and values.

        2 · length · heads · head_dim · layers: 4 for two multiply-adds, halved because a token sees half the
        sequence on average. 0 where the configuration is not known, which understates.
        """
        if self.layers is None or self.heads is None or self.head_dim is None:
            return 0.0
        return 2 * length * self.heads * self.head_dim * self.layers * self.full_attention

    @property
    def embedding(self) -> float | None:
        """Parameters of the embedding table, once."""
        return None if self.vocab is None or self.hidden is None else float(self.vocab * self.hidden)


def card_of(model: str | None) -> ModelCard | None:
    """The card of a hub id, with or without a context tier, or of a local path that ends in the name."""
    return _cards().get(_basename(model)) if model else None


def _basename(model: str) -> str:
    """The name alone, lower case; also of a folder in a hub cache, `models--org--name/snapshots/<hash>`."""
    parts = [part for part in model.replace("\\", "/").split("/") if part]
    cached = next((part for part in parts if part.startswith("models--")), None)
    name = cached.split("--")[-1] if cached else (parts[-1] if parts else "")
    return name.split(":")[0].casefold()


@cache
def _cards() -> Mapping[str, ModelCard]:
    rows = from_json(Path(__file__).with_name("data").joinpath("models.json").read_bytes())["rows"]
    cards: dict[str, ModelCard] = {}
    for row in rows:
        sizes = {key: value for key, value in row.items() if key not in ("names", "active_b", "total_b")}
        for name in row["names"]:
            cards[name.casefold()] = ModelCard(
                name=name, active=row["active_b"] * BILLION, total=row["total_b"] * BILLION, **sizes
            )
    return cards
