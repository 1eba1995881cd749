"""Tinker runs: tinker-cookbook 0.1 to 0.6, and loops written by hand on the same API."""

from ...source import Format
from ...tells import Tells
from .folder import open_run
from .recognise import score

TELLS = Tells(
    steps="`step`, `progress/batch`",
    total="`progress/done_frac`, config, logs.log",
    tokens="`env/all/total_ac_tokens`, `tokens/*`",
    length="`env/all/ac_tokens_per_turn`",
    clip="rollout summaries; else where the mean is the cap",
    reward="`env/all/reward/total`",
    time="`time/total`, pieces of the loop, logs.log",
    config="config.json",
    state="logs.log, last step of the plan",
)
READS = ("metrics.jsonl", "config.json", "checkpoints.jsonl", "logs.log")
FORMAT = Format(name="Tinker run", score=score, open=open_run, tells=TELLS, reads=READS)
