"""Answers from elsewhere, of whatever shape: what cannot be is unknown, and nothing raises."""

import ast
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.monitor.telemetry import far
from rltop.monitor.telemetry.devices import Devices
from rltop.monitor.telemetry.snapshot import SMI_FIELDS, Snapshot, smi_answer

NOW = 1_800_000_000.0
NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.booleans(), st.none(), st.text(max_size=5))
ANY = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["e", "told", "uuid", "gpus"]), inner, max_size=3),
    ),
    max_leaves=8,
)
ASKED = ("util", "memory", "power", "energy", "reasons", "recovery", "ecc", "processes", "slices", "tensor")
GPU = st.one_of(
    ANY,
    st.fixed_dictionaries(
        {"uuid": ANY, "name": ANY, "told": st.dictionaries(st.sampled_from(ASKED), ANY, max_size=6)}
    ),
)
ANSWER = st.fixed_dictionaries({}, optional={"gpus": st.lists(GPU, max_size=3), "error": ANY, "xids": ANY})


@settings(max_examples=60, deadline=None)
@given(st.lists(ANSWER, min_size=1, max_size=3))
def test_no_answer_whatever_breaks_a_look(answers: list[dict[str, Any]]) -> None:
    snapshot = Snapshot()
    devices = Devices(lambda: snapshot)
    for number, answer in enumerate(answers):
        snapshot.take_in(answer)
        sweep = devices.sweep(NOW + 100 * number, want_tensor=True)
        assert sweep.gpus or sweep.note


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.text(max_size=12), min_size=1, max_size=len(SMI_FIELDS) + 2), max_size=4))
def test_no_table_whatever_breaks_a_look(rows: list[list[str]]) -> None:
    snapshot = Snapshot()
    snapshot.take_in(smi_answer(rows))
    sweep = Devices(lambda: snapshot).sweep(NOW, want_tensor=False)
    assert sweep.gpus or sweep.note


def test_what_is_sent_to_a_node_is_python_that_old_nodes_have() -> None:
    source = Path(far.__file__).read_bytes()
    ast.parse(source, feature_version=(3, 6))
    assert source.isascii(), "it is counted in characters and sent in bytes"
    modules = {
        name.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import)
        for name in node.names
    }
    assert modules == {"ctypes", "json", "os", "sys", "threading", "time"}
