"""The overview: what it costs, what it will have cost, whether it is healthy, and what to do."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from ...models import text
from ...monitor.frame import Frame
from .. import axis
from ..widgets.alerts import Alerts
from ..widgets.charts import ColumnChart, CostChart, LengthChart
from ..widgets.cost import Cost
from ..widgets.gpus import Gpus
from ..widgets.health import Health
from ..widgets.keys import Keys
from ..widgets.length import Length
from ..widgets.notes import Notes
from ..widgets.phases import Phases
from ..widgets.replay import ReplayBar
from ..widgets.status import Status
from ..widgets.steps import Steps
from ..widgets.waiting import Waiting
from .charted import ChartedScreen


class Overview(ChartedScreen):
    """All of it on one screen; the style sheet decides what stands where and what gives way."""

    def compose(self) -> ComposeResult:
        yield Status(id="status")
        yield Waiting(id="waiting")
        with Horizontal(id="body"):
            with Vertical(id="main"):
                yield Cost(id="cost")
                with Horizontal(id="charts"):
                    yield CostChart(id="cost-chart")
                    with Vertical(id="length-side"):
                        yield Length(id="length")
                        yield LengthChart(id="length-chart")
                yield Health(id="health")
                yield Phases(id="phases")
                yield Alerts(id="alerts")
                with Horizontal(id="tables"):
                    yield Steps(id="steps")
                    yield Gpus(id="gpus")
            with Vertical(id="side"):
                yield ColumnChart("REWARD", "reward_mean")
                yield ColumnChart("KL", "kl")
                yield ColumnChart("ENTROPY", "entropy")
                yield ColumnChart("GRAD NORM", "grad_norm")
                yield ColumnChart("CLIP RATIO", "clip_ratio", written=text.percent, label=axis.share)
        yield Notes(id="notes")
        yield ReplayBar(id="replay")
        yield Keys(here="view('overview')", id="keys")

    def on_mount(self) -> None:
        self.add_class("-empty")

    def draw(self, frame: Frame) -> None:
        self.set_class(len(frame.state.history) == 0, "-empty")
        self.set_class(frame.bill.spent_usd is None, "-unpriced")
        super().draw(frame)
