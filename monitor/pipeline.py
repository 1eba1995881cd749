"""The one path above the sources: event -> reduce -> price -> project -> alert -> frame.

Live, replay and headless all feed this and nothing else. Every result depends on the events, the
settings and the `now` that is passed in: the same events give the same frames.
"""

from array import array

from ..models.event import Event
from ..models.gpu import GpuUse
from ..models.health import Health
from ..models.money import Bill, StepCost, TokenPrice, WhatIf
from ..models.projection import Plan, Projection
from ..models.run import RunInfo
from ..models.settings import Settings
from ..models.step import Step
from . import reduce as fold
from .alerts.engine import AlertEngine
from .column import NAN
from .frame import Frame
from .health import health_of
from .history import Row
from .moment import Moment
from .money.book import Book
from .money.estimate_prior import step_prior
from .money.flops import whole_step_mfu
from .money.ledger import Ledger
from .money.pricing import listed, resolve
from .money.question import Run, usual
from .ownkeys import OwnKeys
from .projection.projector import Projector
from .projection.series import WARM_UP
from .state import RunState
from .status import last_sign_of_life, status_of
from .telemetry.dollars import phases_of, use_of
from .timing import Timekeeper

JUST_NOW_S = 60.0
DAY_S = 86_400.0


class Pipeline:
    """A run, folded event by event. `feed` as many events as there are, then ask for a `frame`.

    `priced_at` (unix s) is when the run ran, for a replay, whose own times say nothing of it.
    """

    def __init__(self, settings: Settings, book: Book, priced_at: float | None = None) -> None:
        self.settings = settings
        self.state = RunState()
        self._own_keys = OwnKeys(settings.keys)
        self._book = book
        self._anchor_at = priced_at
        self._watched = False
        """A step was seen to end just now: the run goes on under our eyes, and time passes for it."""
        self._alerts = AlertEngine(settings)
        self._start()

    def _start(self) -> None:
        """Set all that is derived from the history back to its beginning."""
        self.info = with_settings(self.state.info, self.settings)
        self._priced_info = self.state.info
        self._pricing = resolve(self.info, self.settings, self._anchor_at, self._book)
        self._amended = self.state.amended
        self._seen_rows = 0
        self._seen_evals = 0
        self._ledger = Ledger(self._pricing)
        self._timekeeper = Timekeeper()
        self._planned = self._plan()
        self._projector = Projector(self._planned)
        self._alerts = self._alerts.anew()
        self._rates_day: float | None = None
        self._rates_now: TokenPrice | None = None
        self._spent = 0.0
        self._spent_usd = array("d")
        self._step_usd = array("d")
        self._at_end, self._at_end_low, self._at_end_high = array("d"), array("d"), array("d")

    def feed(self, event: Event, now: float) -> None:
        """Fold one event that was seen at `now` (unix s)."""
        if isinstance(event, Step):
            event = self._own_keys.told(event)
            if event.ended_at is not None:
                self._watched = now - event.ended_at < JUST_NOW_S
        self.state = fold.reduce(self.state, event)
        # What a restart or a late part makes void is derived anew at the next frame: once, however many come.
        if self.state.amended == self._amended and self.state.closed > self._seen_rows:
            self._advance(now)

    def close(self, now: float) -> None:
        """Nothing more is to come: take every step as it stands."""
        self.state = fold.close(self.state)
        self._advance(now)

    def frame(self, now: float, behind: bool = False) -> Frame:
        """Everything there is to show at `now` (unix s).

        `behind` says that more of the log is waiting to be read: its silence so far then means nothing.
        """
        self._advance(now)
        status = status_of(self.state, self.info, now)
        since_s = self._since_last_step_s(now) if status in ("running", "stalled") else None
        # What was silent before we came may have been dead since: nobody says that it was paid for.
        paid_s = since_s if self._watched or status == "running" else None
        elapsed_s = self._timekeeper.elapsed_s(self.state.shown_s, paid_s)
        bill = self._ledger.bill(self.state, elapsed_s)
        budget_usd = self.settings.budget_usd
        if status == "finished":
            projection = self._projector.finished(bill.spent_usd, budget_usd)
        else:
            projection = self._projector.project(
                spent_usd=bill.spent_usd,
                budget_usd=budget_usd,
                since_last_step_s=since_s,
                prior=step_prior(self.info, self.state.history.evals, self._pricing)
                if self.state.closed < WARM_UP
                else None,
            )
        if not behind:
            self._alerts.tick(
                Moment(
                    state=self.state,
                    info=self.info,
                    settings=self.settings,
                    row=None,
                    cost=None,
                    bill=bill,
                    projection=projection,
                    status=status,
                    now=now,
                    since_last_step_s=since_s,
                )
            )
        health = health_of(self.state, self.info)
        return Frame(
            now=now,
            state=self.state,
            info=self.info,
            settings=self.settings,
            status=status,
            elapsed_s=elapsed_s,
            bill=bill,
            spent_usd=self._spent_usd,
            at_end=self._at_end,
            projection=projection,
            health=health,
            alerts=self._alerts.alerts,
            at_end_low=self._at_end_low,
            at_end_high=self._at_end_high,
            step_usd=self._step_usd,
            watched=self._alerts.watched,
            behind=behind,
            ask=self._whatifs,
            gpu_use=self._gpu_use(projection, health),
        )

    def _gpu_use(self, projection: Projection, health: Health) -> GpuUse | None:
        """None while nothing is known of any GPU, or those that are seen are not the run's."""
        gpus = sum(len(sample.gpus) for sample in self.state.gpus.values())
        if not gpus or self.info.platform == "tinker":
            return None
        use = use_of(
            self.state.gpu_tally,
            gpus,
            usd_per_gpu_hour=self._pricing.usd_per_gpu_hour if self._pricing.by_gpu_hours else None,
            usd_per_kwh=self.settings.usd_per_kwh,
            remaining_s=projection.remaining_s,
            mfu=next(
                (mfu for mfu in (health.mfu.whole_step, health.mfu.corrected, health.mfu.logged) if mfu), None
            ),
        )
        row = self.state.last_row if self.state.closed else None
        if row is None or row.index >= self.state.closed:
            return use
        phases = phases_of(self.state.gpu_trace, row)
        return use.model_copy(update={"phase_step": row.step, "phases": phases}) if phases else use

    def _whatifs(self, frame: Frame) -> tuple[WhatIf, ...]:
        from .money.whatif import whatifs  # other platforms' prices and work: few commands and screens ask

        return whatifs(self.run_of(frame), self._book, usual(frame.info, frame.alerts))

    def settle(self, settings: Settings, now: float) -> None:
        """Take up other settings: all that follows from them is made anew."""
        self.settings = settings
        self._own_keys = OwnKeys(settings.keys)
        self._alerts = AlertEngine(settings)
        self._start()
        self._advance(now)

    def run_of(self, frame: Frame) -> Run:
        """The run of this frame, as questions about its money are put."""
        return Run(
            state=frame.state,
            info=frame.info,
            settings=frame.settings,
            ledger=self._ledger,
            bill=frame.bill,
            projection=frame.projection,
            spent_usd=frame.spent_usd,
            priced_at=self._anchor_at,
            status=frame.status,
        )

    def _advance(self, now: float) -> None:
        """Derive what follows from rows that have been closed since the last time."""
        if self.state.amended != self._amended:
            self._start()
        if self._anchor_at is None or self.state.info is not self._priced_info:
            self._learn()
        for index in range(self._seen_rows, self.state.closed):
            self._observe(self.state.history.row(index), now)
        self._seen_rows = self.state.closed
        self._count_evals()

    def _learn(self) -> None:
        """Take up new facts about the run; sums that they change are made anew from the columns."""
        self._priced_info = self.state.info
        self.info = with_settings(self.state.info, self.settings)
        if self._anchor_at is None:
            # The day whose prices hold. Taken once, so that a long run is not repriced under way.
            self._anchor_at = self.info.started_at or last_sign_of_life(self.state)
        if resolve(self.info, self.settings, self._anchor_at, self._book) != self._pricing:
            self._start()
        elif self._plan() != self._planned:
            self._planned = self._plan()
            self._projector.replan(self._planned)

    def _observe(self, row: Row, now: float) -> None:
        history = self.state.history
        self._count_evals()
        history.set("mfu_whole_step", row.index, whole_step_mfu(row, self.info, self._book))
        self._timekeeper.add_row(row)
        cost = self._ledger.add_step(row)
        self._keep(cost)
        bill = self._ledger.bill(self.state, self._timekeeper.elapsed_s(self.state.shown_s, None))
        self._projector.observe(cost)
        projection = self._projector.project(
            spent_usd=bill.spent_usd, budget_usd=self.settings.budget_usd, dollars_only=True
        )
        final = projection.final_usd
        self._at_end.append(final.p50 if final else NAN)
        self._at_end_low.append(final.p10 if final else NAN)
        self._at_end_high.append(final.p90 if final else NAN)
        self._alerts.observe(self._moment(row, cost, bill, projection, now))

    def _count_evals(self) -> None:
        """Evaluations are told before their step, or after the last one."""
        evals = self.state.history.evals
        for index in range(self._seen_evals, len(evals)):
            self._ledger.add_eval(evals[index])
        self._seen_evals = len(evals)

    def _keep(self, cost: StepCost) -> None:
        parts = (cost.usd, cost.eval_usd, cost.checkpoint_usd)
        step_usd = None if cost.usd is None else sum(part for part in parts if part is not None)
        self._spent += step_usd or 0.0
        self._step_usd.append(NAN if step_usd is None else step_usd)
        self._spent_usd.append(NAN if step_usd is None else self._spent)

    def _moment(self, row: Row, cost: StepCost, bill: Bill, projection: Projection, now: float) -> Moment:
        return Moment(
            state=self.state,
            info=self.info,
            settings=self.settings,
            row=row,
            cost=cost,
            bill=bill,
            projection=projection,
            status="running",
            now=row.get("ended_at") or now,
            since_last_step_s=None,
            rates=listed(self._pricing, self.settings),
            rates_now=self._rates_at(row.get("ended_at")),
        )

    def _rates_at(self, at: float | None) -> TokenPrice | None:
        """The row of the price book in force at `at` (unix s), looked up once a day of the run's time."""
        day = None if at is None else at // DAY_S
        if day != self._rates_day:
            priced = listed(self._pricing, self.settings)
            self._rates_day = day
            self._rates_now = (
                None if priced is None or at is None else self._book.token_price(priced.model, at)
            )
        return self._rates_now

    def _since_last_step_s(self, now: float) -> float | None:
        last = self.state.last_event_at
        return None if last is None else max(0.0, now - last)

    def _plan(self) -> Plan:
        info, pricing = self.info, self._pricing
        return Plan(
            total_steps=info.total_steps,
            first_step=info.first_step or 0,
            max_tokens=info.max_tokens,
            eval_every=info.eval_every,
            eval_at_start=info.eval_at_start,
            eval_at_end=info.eval_at_end,
            save_every=info.save_every,
            # The cookbook's data sets do not drop their last batch; veRL's do.
            last_batch_may_be_short=info.framework == "tinker",
            usd_per_hour=pricing.usd_per_hour,
        )


def with_settings(info: RunInfo, settings: Settings) -> RunInfo:
    """The facts of a run, with what the user has said on top."""
    said = {
        name: value
        for name in ("total_steps", "max_tokens", "model", "gpus", "gpu_type")
        if (value := getattr(settings, name)) is not None
    }
    return info.model_copy(update=said) if said else info
