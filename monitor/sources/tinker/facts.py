"""What the readers of one run folder tell each other: the config the metrics, the metrics the checkpoints.

The one mutable value here; each field has one writer, named beside it.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class RunFacts:
    """Facts that one file of a run tells and another needs. None is unknown."""

    max_tokens: int | None = None
    """Cap on sampled tokens per turn; written by the config reader."""
    save_every: int | None = None
    """Written by the config reader."""
    total_steps: int | None = None
    """Written by whichever reader told it last: what the user is being shown."""
    last_step: int | None = None
    """The newest training step of the current attempt; written by the metrics parser."""
    over: bool = False
    """The end has been told; written by whoever told it, taken back by the metrics parser."""
    resumed_at: int | None = None
    """The step that the current attempt began with, None in the first; written by the metrics parser."""
