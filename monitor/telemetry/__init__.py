"""Readings of the machine a run stands on, taken by us and not by the run."""
