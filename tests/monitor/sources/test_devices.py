"""The GPU that a line names, whichever program printed it."""

from collections.abc import Callable

import pytest

from rltop.models.run import RunInfo
from rltop.monitor.source import Line, Parser
from rltop.monitor.sources.nemo_rl import NemoRlParser
from rltop.monitor.sources.prime_rl import PrimeRlParser
from rltop.monitor.sources.slime import SlimeParser
from rltop.monitor.sources.train_console import TrainConsoleParser
from rltop.monitor.sources.verl.console import ConsoleParser
from rltop.monitor.sources.verl.hints import device_of

PARSERS: tuple[Callable[[], Parser], ...] = (
    ConsoleParser,
    SlimeParser,
    NemoRlParser,
    PrimeRlParser,
    TrainConsoleParser,
)
SMI = "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |"


@pytest.mark.parametrize(
    ("line", "device"),
    [
        (SMI, "H100 80GB HBM3"),
        ("'accelerator_type:B200': 8.0", "B200"),
        ("no config at configs/E=32,N=512,device_name=NVIDIA_H200.json', using defaults", "H200"),
        ("device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8.json", "H100 80GB HBM3"),
        ("NVIDIA_VISIBLE_DEVICES=0", None),
        ("the NVIDIA driver", None),
    ],
)
def test_the_device_of_a_line(line: str, device: str | None) -> None:
    assert device_of(line) == device


@pytest.mark.parametrize("make", PARSERS)
def test_every_console_heeds_it(make: Callable[[], Parser]) -> None:
    events = list(make().feed(Line(SMI, None, 1)))
    assert "H100 80GB HBM3" in [event.gpu_type for event in events if isinstance(event, RunInfo)]
