"""A frame in one line of text: for logs, screen readers, pipes and clipboards."""

from ..models import text
from .frame import Frame


def one_line(frame: Frame) -> str:
    """Step, dollars so far and at the end, length, and what alerts stand."""
    last, final = frame.state.last_row, frame.projection.final_usd
    end = frame.info.last_step
    total = "" if end is None else f"/{end}"
    when = "had it gone on" if frame.status == "crashed" else "at the end"
    at_end = f"{text.usd(final.p50)} {when} ({text.usd(final.p10)} – {text.usd(final.p90)})" if final else "–"
    standing = [alert for alert in frame.alerts if alert.cleared_step is None]
    length = frame.health.response_length.last
    told = "".join(f"  {alert.severity}: {alert.message}" for alert in standing)
    return text.printable(
        f"step {last.step if last else '–'}{total}  {text.usd(frame.bill.spent_usd)} so far  {at_end}"
        f"  length {text.tokens(length)}{told}"
    )
