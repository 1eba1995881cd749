"""Rows of every shape that the cookbook writes, made by hand, and ways to feed them."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rltop.models.event import Event
from rltop.monitor.source import Line, Parser
from rltop.monitor.sources.tinker import FORMAT

Row = dict[str, object]
MakeRow = Callable[..., Row]
Feed = Callable[[Parser, Iterable[Row]], list[Event]]
ReadFolder = Callable[[Path], list[Event]]


@pytest.fixture
def train_row() -> MakeRow:
    """A row of the RL loop of version 0.1, single turn: 4 episodes, 100 prompt and 40 sampled tokens each."""

    def make(step: int, total: int = 10, **more: object) -> Row:
        return {
            "step": step,
            "progress/batch": step,
            "optim/lr": 1e-4,
            "progress/done_frac": (step + 1) / total,
            "env/all/ac_tokens_per_turn": 40.0,
            "env/all/ob_tokens_per_turn": 100.0,
            "env/all/turns_per_episode": 1.0,
            "env/all/total_episodes": 4,
            "env/all/total_turns": 4,
            "env/all/total_ac_tokens": 160,
            "env/all/total_ob_tokens": 400,
            "env/all/reward/total": 0.5 + step / 100,
            "env/all/by_group/frac_mixed": 0.75,
            "time/assemble_training_data": 0.5,
            "time/train": 3.0,
            "optim/kl_sample_train_v1": 0.001,
            "optim/entropy": 0.8,
            "time/compute_kl_sample_train": 0.25,
            "time/save_checkpoint": 2.0,
            "time/total": 20.0 + step / 10,
            **more,
        }

    return make


@pytest.fixture
def billed_row(train_row: MakeRow) -> MakeRow:
    """A row of the RL loop of version 0.6, with what the cookbook itself counts."""

    def make(step: int, total: int = 10, **more: object) -> Row:
        row = train_row(step, total)
        del row["time/train"]
        done = step + 1
        return row | {
            "env/all/total_cached_ob_tokens": 300,
            "tokens/sampled": 161,
            "tokens/prefill_cached": 300,
            "tokens/prefill_uncached": 100,
            "tokens/trained": 556,
            "tokens/cumulative/sampled": 161 * done,
            "tokens/cumulative/prefill_cached": 300 * done,
            "tokens/cumulative/prefill_uncached": 100 * done,
            "tokens/cumulative/trained": 556 * done,
            "cost/step_usd": 0.5,
            "cost/cumulative_usd": 0.5 * done,
            "time/policy_sample:total": 900.0,
            "time/policy_sample:count": 4,
            "time/sampling": 9.0,
            "time/prepare_minibatch": 1.0,
            "time/train_step": 4.0,
            "time/save_checkpoint_and_get_sampling_client": 2.5,
            "time/do_train_step_and_get_sampling_client": 8.0,
            **more,
        }

    return make


@pytest.fixture
def feed() -> Feed:
    """All events of some rows."""

    def read(parser: Parser, rows: Iterable[Row]) -> list[Event]:
        lines = enumerate((json.dumps(row) for row in rows), 1)
        return [event for number, text in lines for event in parser.feed(Line(text, None, number))]

    return read


@pytest.fixture
def read_run() -> ReadFolder:
    """All events of a folder or file that is read once and then closed."""

    def read(path: Path) -> list[Event]:
        events: list[Event] = []
        for source in FORMAT.open(path):
            more = True
            while more:
                events.extend(source.poll(1.8e9))
                more = source.more
            events.extend(source.close())
        return events

    return read
