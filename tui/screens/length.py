"""How long the responses are, how they spread, how many are cut at the cap, and where they are heading."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll

from ...models import text
from .. import axis
from ..widgets.charts import ColumnChart
from ..widgets.keys import Keys
from ..widgets.length import Length
from ..widgets.lengthcharts import EvalLengthChart, LengthsChart
from ..widgets.lengths import Lengths
from ..widgets.notes import Notes
from ..widgets.replay import ReplayBar
from ..widgets.status import Status
from .charted import ChartedScreen


class LengthScreen(ChartedScreen):
    """The lengths in one large chart, what belongs to them in small ones beside it."""

    def compose(self) -> ComposeResult:
        yield Status(id="status")
        yield Length(id="length")
        with Horizontal(id="row"):
            yield LengthsChart(id="lengths-chart")
            with Vertical(id="beside"):
                yield ColumnChart("CUT AT THE CAP", "clip_ratio", written=text.percent, label=axis.share)
                yield EvalLengthChart(id="eval-length-chart")
                yield ColumnChart(
                    "PROMPTS", "prompt_length_mean", written=text.tokens_unit, label=axis.token_count
                )
        with VerticalScroll(id="scroll"):
            yield Lengths(id="lengths")
        yield Notes(id="notes")
        yield ReplayBar(id="replay")
        yield Keys(here="view('length')", id="keys")
