"""The running bill of one run: add steps and evaluations in order, ask for the bill at any time.

The one rule: everything that was paid for is counted once. A repeated step is paid for again, evaluations
have meters of their own, and a framework's own dollars never stand beside ours. No call takes longer in a
longer run.
"""

from ...models.money import Bill, Meter, StepCost
from ...models.step import Eval
from ..history import Row
from ..state import RunState
from . import remarks
from .meters import EVAL_METERS, EVAL_NAMES, STEP_METERS, Count, TokenSums, known_usd, rates_of, sound
from .phases import PhaseSums, waste_line
from .pricing import Pricing
from .repeats import Repeats

EVAL_SHARE = 0.005
"""Below this share of a step, time on evaluations only says that there were none to run."""


class Ledger:
    """The sums behind a bill."""

    def __init__(self, pricing: Pricing) -> None:
        self.pricing = pricing
        self.phases = PhaseSums()
        self.sums = TokenSums()
        self._rates = rates_of(pricing)
        self._repeats = Repeats()
        self._evals: dict[tuple[int, int], list[dict[Count, float]]] = {}
        """Evaluations whose step has not closed yet, by step and attempt."""
        self._evals_untold = 0
        """Evaluations that told no token counts."""
        self._row_usd = 0.0
        """Work of all rows: the framework's dollars where it logged them, ours otherwise. Discards apart."""
        self._logged_rows = 0
        self._last_step_usd: float | None = None

    def add_eval(self, evaluation: Eval) -> None:
        """Count an evaluation; before its step, so that the step can tell what it cost."""
        tokens: dict[Count, float] = {}
        for name, meter in EVAL_METERS.items():
            if (value := sound(getattr(evaluation, name))) is not None:
                tokens[meter, name] = value
        self.sums.add(tokens)
        self._evals_untold += not tokens
        self._evals.setdefault((evaluation.step, evaluation.attempt), []).append(tokens)

    def add_step(self, row: Row) -> StepCost:
        """Count a closed step; once each, in order."""
        tokens: dict[Count, float] = {}
        for name, meter in STEP_METERS.items():
            if (value := sound(row.get(name))) is not None:
                tokens[meter, name] = value
        self.sums.add(tokens)
        self.phases.add(row)
        evals = self._evals.pop((row.step, row.attempt), None)
        if self.pricing.by_gpu_hours:
            cost = self._by_hours(row, evals is not None)
        else:
            cost = self._by_tokens(row, tokens, evals)
        self._last_step_usd = _total(cost)
        return cost

    def bill(self, state: RunState, elapsed_s: float | None) -> Bill:
        """What the run has cost by now, `elapsed_s` wall seconds after it began."""
        if self.pricing.usd_per_hour is None and self._is_logged(state):
            return self._logged_bill(state)
        if self.pricing.by_gpu_hours:
            return self._hours_bill(elapsed_s)
        return self._metered_bill(state)

    def spent_usd(self, state: RunState, elapsed_s: float | None) -> float | None:
        """The bill's sum alone, without its lines where these are not needed for it."""
        if self.pricing.by_gpu_hours and self.pricing.usd_per_hour is not None:
            return self._hours_usd(self.phases.wall_s(elapsed_s))
        return self.bill(state, elapsed_s).spent_usd

    def _is_logged(self, state: RunState) -> bool:
        totals = state.totals
        return self._logged_rows > 0 or (totals is not None and sound(totals.spent_usd) is not None)

    def _by_tokens(
        self, row: Row, tokens: dict[Count, float], evals: list[dict[Count, float]] | None
    ) -> StepCost:
        thrown = {count: number for count, number in tokens.items() if count[0] == "discarded"}
        work = {count: number for count, number in tokens.items() if count[0] != "discarded"}
        logged = sound(row.get("logged_usd"))
        work_usd = logged if logged is not None else known_usd(work, self._rates)
        self._logged_rows += logged is not None
        self._row_usd += work_usd or 0.0
        repeated = self._repeats.add(row, work_usd or 0.0)
        usd = _added(work_usd, known_usd(thrown, self._rates))
        eval_phase, checkpoint_s = sound(row.phase("eval")), sound(row.phase("checkpoint"))
        duration = sound(row.get("duration_s"))
        told = [known_usd(one, self._rates) for one in evals or ()]
        return StepCost(
            step=row.step,
            usd=usd,
            usd_at_cap=self._tokens_at_cap(row, usd),
            duration_s=_rest(duration, eval_phase, checkpoint_s),
            response_length=row.get("response_length_mean"),
            clip_ratio=row.get("clip_ratio"),
            eval_usd=_added(*told),
            eval_s=eval_phase if evals or _counts(eval_phase, duration) else None,
            checkpoint_s=checkpoint_s,
            repeated=repeated,
        )

    def _tokens_at_cap(self, row: Row, usd: float | None) -> float | None:
        """The step's dollars if every response (of every turn) had run to the cap."""
        cap, sampled = self.pricing.max_tokens, sound(row.get("sampled_tokens"))
        responses = sound(row.get("turns")) or sound(row.get("episodes"))
        if usd is None or cap is None or sampled is None or responses is None or not self._rates:
            return None
        more = max(0.0, responses * cap - sampled)
        grows = ["sampled_tokens"]
        grows += [name for name in ("trained_tokens", "scored_tokens") if row.get(name) is not None]
        return usd + more * sum(self._rates.get((STEP_METERS[name], name), 0.0) for name in grows)

    def _metered_bill(self, state: RunState) -> Bill:
        meters = self.sums.meters(self._rates)
        usd = [meter.usd for meter in meters if meter.usd is not None]
        notes = remarks.metered(self.pricing, self.sums, state, self._evals_untold)
        if not self._rates:
            return self._unpriced(meters, self.pricing.why_unpriced or remarks.NO_PRICE, notes)
        if not usd and len(state.history):
            return self._unpriced(meters, remarks.NO_TOKENS, notes)
        return Bill(
            basis="metered",
            spent_usd=sum(usd) if usd else None,
            meters=tuple(meters),
            price_book=self.pricing.ref,
            last_step_usd=self._last_step_usd,
            notes=notes,
        )

    def _logged_bill(self, state: RunState) -> Bill:
        totals = state.totals
        ours = self.sums.meters(self._rates)
        evals = [meter for meter in ours if meter.name in EVAL_NAMES]
        work = [meter for meter in ours if meter.name not in EVAL_NAMES and meter.name != "discarded"]
        thrown = next((meter for meter in ours if meter.name == "discarded"), None)
        thrown_usd = (thrown and thrown.usd) or 0.0
        if totals is not None and (discarded_usd := sound(totals.discarded_usd)) is not None:
            thrown_usd = discarded_usd
        # The framework's counter goes back to the checkpoint when the run does; what was lost was paid for.
        counted = ((totals and sound(totals.spent_usd)) or 0.0) + self._repeats.lost_usd
        logged = max(self._row_usd + thrown_usd, counted)
        meters = _split(work, logged - thrown_usd)
        if thrown is not None or thrown_usd:
            meters.append(Meter(name="discarded", tokens=thrown and thrown.tokens, usd=thrown_usd))
        ours_usd = [meter.usd for meter in work if meter.usd is not None]
        return Bill(
            basis="logged",
            spent_usd=logged + sum(meter.usd or 0.0 for meter in evals),
            meters=(*meters, *evals),
            price_book=self.pricing.ref,
            last_step_usd=self._last_step_usd,
            notes=remarks.logged(
                self.pricing,
                self.sums,
                priced=bool(self._rates),
                ours_usd=sum(ours_usd) if ours_usd else None,
                theirs_usd=logged - thrown_usd,
                evals_untold=self._evals_untold,
            ),
        )

    def _by_hours(self, row: Row, evaluated: bool) -> StepCost:
        duration, eval_s = sound(row.get("duration_s")), sound(row.phase("eval"))
        checkpoint_s = sound(row.phase("checkpoint"))
        work_s = _rest(duration, eval_s, checkpoint_s)
        if not evaluated and not _counts(eval_s, duration):
            eval_s = None
        usd = self._hours_usd(work_s)
        length, cap = row.get("response_length_mean"), self.pricing.max_tokens
        at_cap = None
        if usd is not None and length and cap:
            # Time in proportion to length; measured exponents are lower, so this is the careful side.
            at_cap = usd * max(1.0, cap / length)
        logged = sound(row.get("logged_usd"))
        self._logged_rows += logged is not None
        self._row_usd += logged or 0.0
        return StepCost(
            step=row.step,
            usd=usd,
            usd_at_cap=at_cap,
            duration_s=work_s,
            response_length=length,
            clip_ratio=row.get("clip_ratio"),
            eval_usd=self._hours_usd(eval_s),
            eval_s=eval_s,
            checkpoint_usd=self._hours_usd(checkpoint_s),
            checkpoint_s=checkpoint_s,
            repeated=self._repeats.add(row, usd or 0.0),
        )

    def _hours_usd(self, seconds: float | None) -> float | None:
        per_hour = self.pricing.usd_per_hour
        return None if per_hour is None or seconds is None else per_hour * seconds / 3600

    def _hours_bill(self, elapsed_s: float | None) -> Bill:
        pricing = self.pricing
        wall_s = self.phases.wall_s(elapsed_s)
        usd = self._hours_usd(wall_s)
        hours = None if wall_s is None or pricing.gpus is None else pricing.gpus * wall_s / 3600
        meters = [Meter(name="gpu", hours=hours, usd=usd), *self.sums.meters({})]
        if hours is None:
            meters = meters[1:]
        phases = self.phases.costs(elapsed_s, pricing.gpus, usd)
        if usd is None:
            bare = self._unpriced(meters, pricing.why_unpriced or remarks.NO_TIMES, pricing.notes)
            return bare.model_copy(update={"phases": phases})
        waste = waste_line(phases)
        return Bill(
            basis="gpu-hours",
            spent_usd=usd,
            meters=tuple(meters),
            price_book=pricing.ref,
            last_step_usd=self._last_step_usd,
            phases=phases,
            notes=pricing.notes if waste is None else (*pricing.notes, waste),
        )

    def _unpriced(self, meters: list[Meter], why: str, notes: tuple[str, ...]) -> Bill:
        bare = tuple(meter.model_copy(update={"usd": None}) for meter in meters)
        return Bill(basis="unpriced", meters=bare, notes=tuple(dict.fromkeys((why, *notes))))


def _split(work: list[Meter], usd: float) -> list[Meter]:
    """The framework's dollars over the meters, in the proportion of ours; one sum where we have no rates."""
    ours = sum(meter.usd or 0.0 for meter in work)
    if ours <= 0:
        return [*work, Meter(name="unsplit", usd=usd)]
    return [
        meter if meter.usd is None else meter.model_copy(update={"usd": usd * (meter.usd / ours)})
        for meter in work
    ]


def _added(*parts: float | None) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _rest(duration_s: float | None, *parts: float | None) -> float | None:
    """Wall seconds without these phases."""
    if duration_s is None:
        return None
    return max(0.0, duration_s - sum(part for part in parts if part is not None))


def _counts(eval_s: float | None, duration_s: float | None) -> bool:
    return eval_s is not None and eval_s > EVAL_SHARE * (duration_s or 0.0)


def _total(cost: StepCost) -> float | None:
    parts = (cost.usd, cost.eval_usd, cost.checkpoint_usd)
    return None if cost.usd is None else sum(part for part in parts if part is not None)
