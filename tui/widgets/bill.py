"""The bill as a sum anyone can check: an amount, times a price, is dollars; and where the price is from."""

from ...models import text
from ...models.money import Bill, Meter
from ...monitor.frame import Frame
from ..lines import Line, Span, wrapped
from .cost import METERS
from .panel import Panel

NAME, AMOUNT, PRICE, USD, SHARE = 14, 12, 16, 10, 8
BASIS = {
    "logged": "dollars as the run itself logged them",
    "metered": "tokens at the list price",
    "gpu-hours": "GPU-hours of wall time",
}


class BillTable(Panel):
    """A line a meter, the sum, and the notes on the prices."""

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        bill = frame.bill
        head = f"{'BILL':<{NAME}}"
        titles = f"{'amount':>{AMOUNT}}{'price':>{PRICE}}{'dollars':>{USD}}{'share':>{SHARE}}"
        lines: list[Line] = [(Span(head, "title"), Span(titles, "dim"))]
        lines += [_line(meter, bill) for meter in bill.meters]
        if bill.meters:
            gap = " " * (AMOUNT + PRICE)
            lines.append(
                (
                    Span(f"{'in all':<{NAME}}", "dim"),
                    Span(f"{gap}{text.usd(bill.spent_usd):>{USD}}", "ours-big"),
                )
            )
        else:
            lines.append((Span("nothing has been metered yet", "dim"),))
        for words in sources_of_prices(bill):
            lines += wrapped(words, width, "dim")
        return lines


def _line(meter: Meter, bill: Bill) -> Line:
    amount, price = text.UNKNOWN, text.UNKNOWN
    if meter.tokens is not None:
        amount = f"{text.tokens_compact(meter.tokens)} tok"
        if meter.usd is not None and meter.tokens > 0:
            price = f"× {text.usd(meter.usd / meter.tokens * 1e6)}/M"
    elif meter.hours is not None:
        amount = f"{text.number(meter.hours)} h"
        if meter.usd is not None and meter.hours > 0:
            price = f"× {text.usd(meter.usd / meter.hours)}/h"
    share = None if meter.usd is None or not bill.spent_usd else meter.usd / bill.spent_usd
    return (
        Span(f"{METERS.get(meter.name, meter.name):<{NAME}}"),
        Span(f"{amount:>{AMOUNT}}{price:>{PRICE}}", "dim"),
        Span(f"{text.usd(meter.usd):>{USD}}"),
        Span(f"{text.percent(share):>{SHARE}}", "dim"),
    )


def sources_of_prices(bill: Bill) -> list[str]:
    """What the bill goes by, the list that its prices are from, and the remarks on it."""
    lines = [BASIS[bill.basis]] if bill.basis in BASIS else []
    if bill.price_book is not None:
        lines = [f"{', '.join([*lines, f'prices of {bill.price_book.date}'])}: {bill.price_book.source}"]
    return [*lines, *bill.notes]
