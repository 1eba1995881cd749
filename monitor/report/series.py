"""The report as JSON: what `rltop check --json` prints, and the series of the run beside it."""

from collections.abc import Sequence

from ...models.report import CheckReport, HistoryReport, RunHistoryReport
from ..frame import Frame


def with_history(frame: Frame, check: CheckReport) -> RunHistoryReport:
    """The check of a frame with a value for each closed row of its history; what is not known is null."""
    state = frame.state
    rows = range(state.closed)

    def column(values: Sequence[float]) -> tuple[float | None, ...]:
        cells = [values[row] if row < len(values) else None for row in rows]
        return tuple(None if cell is None or cell != cell else cell for cell in cells)

    told = {name: column(values) for name, values in state.history.columns.items()}
    history = HistoryReport(
        step=tuple(state.history.steps[row] for row in rows),
        attempt=tuple(state.history.attempts[row] for row in rows),
        spent_usd=column(frame.spent_usd),
        step_usd=column(frame.step_usd),
        final_usd_p50=column(frame.at_end),
        columns={name: values for name, values in told.items() if any(value is not None for value in values)},
    )
    parts = {name: value for name, value in check if name != "schema_"}  # which has an alias
    return RunHistoryReport(**parts, history=history)
