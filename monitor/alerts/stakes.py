"""What is at stake: the step an alert belongs to, what is left of the run, and what a change costs. Pure.

An amount that cannot be worked out is None, and the advice then does without it.
"""

from ...models.text import usd_change
from ..moment import Moment


def step_of(moment: Moment) -> int:
    """The step that has just closed, else the newest one; before the first, the number it will have."""
    if moment.row is not None:
        return moment.row.step
    last = moment.state.last_row
    return last.step if last is not None else moment.info.first_step or 0


def remaining_steps(moment: Moment) -> int | None:
    """Steps still to run, or None when the end is not known."""
    last_step = moment.info.last_step
    return None if last_step is None else max(0, last_step - step_of(moment))


def extra_usd(moment: Moment, usual_usd: float | None) -> float | None:
    """Dollars that the rest of the run is projected to cost above `usual_usd` a step."""
    final, spent, steps = moment.projection.final_usd, moment.spent_usd, remaining_steps(moment)
    if final is None or spent is None or steps is None or usual_usd is None:
        return None
    return final.p50 - spent - steps * usual_usd


def at_this_rate(amount_usd: float | None) -> str:
    """`+$98 at this rate`; empty where the amount is unknown or no loss."""
    return f"{usd_change(amount_usd)} at this rate" if amount_usd is not None and amount_usd > 0 else ""


def saving_usd(moment: Moment) -> float | None:
    """What stopping now is projected to save, dollars."""
    final, spent = moment.projection.final_usd, moment.spent_usd
    return None if final is None or spent is None else max(0.0, final.p50 - spent)


def wall_usd(moment: Moment, seconds: float) -> float | None:
    """Dollars that `seconds` of waiting cost on GPUs held by the hour; None where only tokens are paid."""
    rate = usd_per_second(moment)
    return None if rate is None else rate * seconds


def usd_per_second(moment: Moment) -> float | None:
    """What the run's GPUs cost, from the bill itself."""
    if moment.bill.basis != "gpu-hours" or not moment.info.gpus:
        return None
    for meter in moment.bill.meters:
        if meter.name == "gpu" and meter.usd is not None and meter.hours:
            return meter.usd / meter.hours * moment.info.gpus / 3600
    return None


def advise(*parts: str) -> str:
    """One line of what there is to say."""
    return "; ".join(part for part in parts if part)
