"""Tinker runs: tinker-cookbook 0.1 to 0.6, and loops written by hand on the same API."""

from ...source import Format
from .folder import open_run
from .recognise import score

FORMAT = Format(name="Tinker run", score=score, open=open_run)
