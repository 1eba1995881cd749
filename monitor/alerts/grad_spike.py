"""Gradient norm that jumps: one bad batch, or the first sign that training comes apart."""

from .spike import spike_rule

RULE = spike_rule(
    name="grad_spike",
    about="gradient norm that jumps",
    quantity="grad_norm",
    called="gradient norm",
    smallest=1e-8,
    advice="clip gradients harder, or lower the learning rate",
)
