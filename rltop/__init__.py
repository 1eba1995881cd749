"""top for RL post-training: what a run costs, what it will have cost, and whether it is worth it."""

__version__ = "0.1.0"
