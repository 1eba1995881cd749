"""What the run will have cost, how long it will take, and how sure that is."""

from .run import last_step_of
from .value import Quantiles, Value


class FinalCost(Quantiles):
    """Dollars at the end of the run."""

    at_cap: float | None = None
    """If every remaining response ran to the token cap; None when the cap is unknown."""


class Plan(Value):
    """What is left to do, as far as the run or the user has said."""

    total_steps: int | None = None
    first_step: int = 0
    max_tokens: int | None = None
    eval_every: int | None = None
    eval_at_start: bool | None = None
    eval_at_end: bool | None = None
    save_every: int | None = None
    last_batch_may_be_short: bool = False
    """Whether the loop takes what is left of a data set as a last, smaller step."""
    usd_per_hour: float | None = None
    """Self-hosted: what every wall hour costs. None where tokens are billed."""

    @property
    def last_step(self) -> int | None:
        """The number of the last step; None when the total is unknown."""
        return last_step_of(self.total_steps, self.first_step)


class FanPoint(Value):
    """The cumulative cost (dollars) and the response length (tokens) expected at a future step."""

    step: int
    cost: Quantiles | None = None
    length: Quantiles | None = None


class Projection(Value):
    """Everything projected from one moment on. None means it cannot be said; `notes` say why."""

    final_usd: FinalCost | None = None
    prior: bool = False
    """Whether `final_usd` still rests on the configuration: fewer than three steps have told their cost."""
    remaining_s: Quantiles | None = None
    response_length_at_end: Quantiles | None = None
    budget_usd: float | None = None
    p_over_budget: float | None = None
    budget_breaks_at_step: int | None = None
    fan: tuple[FanPoint, ...] = ()
    notes: tuple[str, ...] = ()
