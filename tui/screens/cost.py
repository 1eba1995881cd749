"""What the run has cost and will have cost: the bill, where each price is from, what-ifs, forecasts."""

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll

from ..widgets.bill import BillTable
from ..widgets.charts import CostChart
from ..widgets.cost import Cost
from ..widgets.costcharts import ForecastChart, StepCostChart
from ..widgets.keys import Keys
from ..widgets.notes import Notes
from ..widgets.replay import ReplayBar
from ..widgets.spending import PhaseTable
from ..widgets.status import Status
from ..widgets.whatifs import WhatIfs
from .charted import ChartedScreen


class CostScreen(ChartedScreen):
    """Charts above, tables below; where it is low, the tables scroll."""

    def compose(self) -> ComposeResult:
        yield Status(id="status")
        yield Cost(id="cost")
        with Horizontal(id="row"):
            yield ForecastChart(id="forecast-chart")
            yield CostChart(id="spent-chart")
            yield StepCostChart(id="step-chart")
        with VerticalScroll(id="scroll"):
            with Horizontal(id="bills"):
                yield BillTable(id="bill")
                yield PhaseTable(id="phase-table")
            yield WhatIfs(id="whatifs")
        yield Notes(id="notes")
        yield ReplayBar(id="replay")
        yield Keys(here="view('cost')", id="keys")
