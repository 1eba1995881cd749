"""KL to the reference that jumps: the policy has left the region in which the reward was learnt."""

from .spike import spike_rule

RULE = spike_rule(
    name="kl_spike",
    about="KL divergence that jumps",
    quantity="kl",
    called="KL",
    # Early in a run KL is noise around zero, and it grows with every step: that is no jump.
    smallest=1e-2,
    advice="lower the learning rate or raise the KL term, and read some responses",
)
