"""The one path above the sources: event -> reduce -> price -> project -> alert -> frame.

Live, replay and headless all feed this and nothing else. Every result depends on the events, the
settings and the `now` that is passed in: the same events give the same frames.
"""

from ..models.event import Event
from ..models.gpu import GpuUse
from ..models.health import Health
from ..models.money import TokenPrice, WhatIf
from ..models.projection import Plan, Projection
from ..models.run import RunInfo
from ..models.settings import Settings
from ..models.step import Step
from . import reduce as fold
from .account import Account
from .alerts.engine import AlertEngine
from .frame import Frame
from .health import health_of
from .history import Row
from .moment import Moment, Outlay
from .money.book import Book
from .money.estimate_prior import step_prior
from .money.flops import whole_step_mfu
from .money.pricing import listed, resolve
from .money.question import Run, usual
from .ownkeys import OwnKeys
from .projection.series import WARM_UP
from .state import RunState
from .status import last_sign_of_life, status_of
from .telemetry.dollars import phases_of, use_of

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
        self._account = Account(self._pricing, self._plan(), self.settings.budget_usd)
        self._alerts = self._alerts.anew()
        self._listed = listed(self._pricing, self.settings)
        self._rates_day: float | None = None
        self._rates_now: TokenPrice | None = None

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
        account = self._account
        elapsed_s = account.elapsed_s(self.state, paid_s)
        bill = account.bill_of(self.state, elapsed_s)
        budget_usd = self.settings.budget_usd
        if status == "finished":
            projection = account.projector.finished(bill.spent_usd, budget_usd)
        else:
            projection = account.projector.project(
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
                    money=Outlay(bill, projection),
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
            spent_usd=account.spent_usd,
            at_end=account.at_end,
            projection=projection,
            health=health,
            alerts=self._alerts.alerts,
            at_end_low=account.at_end_low,
            at_end_high=account.at_end_high,
            step_usd=account.step_usd,
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
            ledger=self._account.ledger,
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
        self._account.count_evals(self.state)

    def _learn(self) -> None:
        """Take up new facts about the run; sums that they change are made anew from the columns."""
        self._priced_info = self.state.info
        self.info = with_settings(self.state.info, self.settings)
        if self._anchor_at is None:
            # The day whose prices hold. Taken once, so that a long run is not repriced under way.
            self._anchor_at = self.info.started_at or last_sign_of_life(self.state)
        if resolve(self.info, self.settings, self._anchor_at, self._book) != self._pricing:
            self._start()
        elif (plan := self._plan()) != self._account.plan:
            self._account.replan(plan)

    def _observe(self, row: Row, now: float) -> None:
        self.state.history.set("mfu_whole_step", row.index, whole_step_mfu(row, self.info, self._book))
        cost = self._account.observe(row, self.state)
        self._alerts.observe(
            Moment(
                state=self.state,
                info=self.info,
                settings=self.settings,
                row=row,
                cost=cost,
                money=self._account,
                status="running",
                now=row.get("ended_at") or now,
                since_last_step_s=None,
                rates=self._listed,
                rates_now=self._rates_at(row.get("ended_at")),
            )
        )

    def _rates_at(self, at: float | None) -> TokenPrice | None:
        """The row of the price book in force at `at` (unix s), looked up once a day of the run's time."""
        day = None if at is None else at // DAY_S
        if day != self._rates_day:
            priced = self._listed
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
