"""Block YAML, as Hydra and others write it."""

from hypothesis import given
from hypothesis import strategies as st

from rltop.monitor.sources.verl.hydra import read_yaml
from rltop.monitor.sources.yamlblock import entries

TEXT = """\
# asked for
data:
  files:
  - path: a.parquet
    rows: 3
  - b.parquet
  prompt: 'it''s long,
    and goes on'
  tags: [a, b]
actor_rollout_ref:
  model: &model
    path: Qwen/Qwen3-8B
  note: |
    lr: 7
  again: *model
trainer:
  total_epochs: 15
  name: '007'
  steps: null
"""


def test_scalars_are_read_and_lists_blocks_and_references_passed_over() -> None:
    assert read_yaml(TEXT) == {
        "data.prompt": "it's long, and goes on",
        "actor_rollout_ref.model.path": "Qwen/Qwen3-8B",
        "trainer.total_epochs": 15,
        "trainer.name": "007",
        "trainer.steps": None,
    }


def test_a_quote_that_is_never_closed_takes_no_more_than_its_own_lines() -> None:
    assert read_yaml("a: 'open\n  still\nb: 2\n")["b"] == 2


LINES = ("a: 'x", '  b: "', "- c: 1", "  ", "d:", "    e: 2", "'f'': 3", "? g", "h: &i", "j: &k l", "m: *i")


@given(st.lists(st.sampled_from(LINES), max_size=30))
def test_nothing_makes_it_raise(lines: list[str]) -> None:
    for entry in entries("\n".join(lines)):
        assert all(entry.path)
        assert entry.text
