"""Whether training goes well: reward, evaluations, KL, entropy, gradients, clipping, learning rate."""

from textual.app import ComposeResult
from textual.containers import Grid

from ...models import text
from .. import axis
from ..widgets.charts import ColumnChart
from ..widgets.evalchart import EvalChart
from ..widgets.health import Health
from ..widgets.healthtable import HealthTable
from ..widgets.keys import Keys
from ..widgets.notes import Notes
from ..widgets.replay import ReplayBar
from ..widgets.status import Status
from .charted import ChartedScreen


class HealthScreen(ChartedScreen):
    """A chart for each, and a table of the same below them."""

    def compose(self) -> ComposeResult:
        yield Status(id="status")
        yield Health(id="health")
        with Grid(id="grid"):
            yield ColumnChart("REWARD", "reward_mean", id="reward-chart")
            yield EvalChart(id="eval-chart")
            yield ColumnChart("KL", "kl", id="kl-chart")
            yield ColumnChart("ENTROPY", "entropy", id="entropy-chart")
            yield ColumnChart("GRAD NORM", "grad_norm", id="grad-chart")
            yield ColumnChart(
                "RATIOS CLIPPED", "pg_clip_fraction", written=text.percent, label=axis.share, id="pg-chart"
            )
        yield HealthTable(id="health-table")
        yield Notes(id="notes")
        yield ReplayBar(id="replay")
        yield Keys(here="view('health')", id="keys")
