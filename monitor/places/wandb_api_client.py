"""W&B's own package, asked about one run. Its one rule: it is silent, asks nobody for anything, and leaves
nothing behind; whatever goes wrong in it is a `Trouble` of one line.
"""

import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

from ...models.text import printable
from .wandb_api_quiet import quiet

PATIENCE_S = 30
"""How long one question may take."""
LISTED = 5
SYSTEM_ROWS = 500
_STATUS = re.compile(r"(?:HTTP|error|status(?: code)?:?) (\d{3})\b")
REFUSED = "W&B does not accept the key: run `wandb login`, or set WANDB_API_KEY"
LOGIN = "not logged in to W&B: run `wandb login`, or set WANDB_API_KEY"


class Trouble(Exception):
    """A question that was not answered, in one line for the user."""

    def __init__(self, reason: str, passing: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.passing = passing
        """Whether it may go well when asked again."""


class Missing(Trouble):
    """There is no such run, or it is not shown to us."""


class Look(NamedTuple):
    """A run, as one question tells it."""

    state: str
    name: str
    started_at: float | None
    """Unix seconds, as the next."""
    heartbeat_at: float | None
    last_step: int
    """W&B's own count, `_step`; -1 before the first row."""
    rows: int
    config: Mapping[str, object]
    machine: Mapping[str, object]
    """The environment of the process that logs, the newest of them, as far as the configuration has it."""
    system: Mapping[str, object]
    """The newest readings of the system stream, by key."""


class Client:
    """Asks about the runs of one project."""

    def __init__(self, entity: str, project: str, base_url: str | None) -> None:
        self._entity = entity
        self._project = project
        self._base_url = base_url
        self._api: Any = None  # the package's own types leave much of it open
        self._run: Any = None

    def look(self, run_id: str) -> Look:
        """The run as it is now: one question, and one for the login when it is the first.

        Raises:
            Trouble: it was not answered.
        """
        path = f"{self._entity}/{self._project}/{run_id}"
        with self._asking(path):
            if self._run is None:
                self._run = self._connected().run(path)
            else:
                self._run.load(force=True)
            return _look_of(self._run)

    def rows(self, first: int, last: int, span: int) -> Iterator[Mapping[str, object]]:
        """The history from step `first` to `last`, both included, in order; a question a `span` of steps.

        Raises:
            Trouble: it was not answered, in the middle perhaps.
        """
        run = self._run
        if run is None:
            return
        with self._asking():
            # What is kept of a run that grows would be missing rows.
            yield from run.scan_history(min_step=first, max_step=last + 1, page_size=span, use_cache=False)

    def system(self) -> Sequence[Mapping[str, object]]:
        """Readings of the system stream, oldest first, thinned out to `SYSTEM_ROWS`.

        Raises:
            Trouble: it was not answered.
        """
        if self._run is None:
            return ()
        with self._asking():
            return self._run.history(samples=SYSTEM_ROWS, stream="system", pandas=False)

    def console(self, last: int) -> list[tuple[int, str]]:
        """The newest `last` lines of the console, with their numbers; none from versions that cannot tell.

        Raises:
            Trouble: it was not answered.
        """
        if self._run is None or not hasattr(self._run, "console_logs"):
            return []
        with self._asking():
            return [(line.number, line.content) for line in self._run.console_logs(last=last)]

    def newest(self) -> list[str]:
        """The project's newest runs, each with its name and state.

        Raises:
            Trouble: it was not answered, or there is no such project.
        """
        path = f"{self._entity}/{self._project}"
        with self._asking(path):
            runs = self._connected().runs(path, order="-created_at", per_page=LISTED)
            return [
                f"{run.id} ({run.name}, {run.state})" for run, _ in zip(runs, range(LISTED), strict=False)
            ]

    def _connected(self) -> Any:
        if self._api is None:
            import wandb  # a second, which only this place needs

            overrides = {"entity": self._entity, "project": self._project}
            if self._base_url is not None:
                overrides["base_url"] = self._base_url
            self._api = wandb.Api(overrides=overrides, timeout=PATIENCE_S)
        return self._api

    def _leave(self) -> None:
        """Let go of a helper process that has died, so that the next question starts another."""
        import wandb  # it is there already

        self._api = self._run = None
        with quiet(), suppress(Exception):  # it wants to say goodbye to the dead
            wandb.teardown()

    @contextmanager
    def _asking(self, what: str = "") -> Generator[None]:
        try:
            with quiet():
                yield
        except Trouble:
            raise
        except Exception as error:  # noqa: BLE001 - another's client on another's answers: it raises anything
            if _is_helper_gone(error):
                self._leave()
                raise Trouble("the helper process of W&B's package has died", passing=True) from None
            raise _trouble(error, what or f"{self._entity}/{self._project}") from None


def _is_helper_gone(error: Exception) -> bool:
    """Whether the package cannot talk to its own process: what fails beyond that comes as its words."""
    return any(
        isinstance(one, ConnectionError)
        or type(one).__name__ == "MailboxClosedError"
        or "process is not running" in str(one)
        for one in (error, getattr(error, "exc", None), error.__context__)
    )


def _trouble(error: Exception, what: str) -> Trouble:
    """What an exception means: of most of them only the words tell."""
    said = str(error)
    kinds = {kind.__name__ for kind in type(error).__mro__}
    found = _STATUS.search(said)
    status = int(found[1]) if found else None
    if status == 401:
        return Trouble(REFUSED, passing=False)
    if status == 403 or "permission denied" in said:
        return Missing(f"{what}: not shown to this W&B login (no access)", passing=False)
    if status == 404:
        return Trouble("no W&B server at this address (404)", passing=False)
    if status is not None:
        return Trouble(f"W&B does not answer ({status})", passing=True)
    if "Could not find" in said:
        return Missing(f"{what}: no such run", passing=False)
    if "giving up after" in said or "respond in time" in said or "dial tcp" in said:
        cause = _one_line(said).rsplit(": ", 1)[-1]
        return Trouble(f"W&B cannot be reached ({cause})", passing=True)
    if " invalid: API key" in said:
        return Trouble(f"{REFUSED} (it is malformed)", passing=False)
    if "UsageError" in kinds:
        return Trouble(LOGIN, passing=False)
    return Trouble(f"W&B: {_one_line(said) or type(error).__name__}", passing=True)


def _one_line(text: str) -> str:
    """The first line, without the key, should it be in it."""
    line = printable(text.strip().split("\n")[0])[:300]
    key = os.environ.get("WANDB_API_KEY")
    return line.replace(key, "…") if key else line


def _look_of(run: Any) -> Look:
    keys = _mapping(_told(run, "historyKeys"))
    config = _mapping(_told(run, "rawconfig"))
    machines = [_mapping(value) for value in _mapping(_mapping(config.get("_wandb")).get("e")).values()]
    last, rows = keys.get("lastStep"), _told(run, "historyLineCount")
    return Look(
        state=str(run.state),
        name=str(run.name or ""),
        started_at=_seconds(_told(run, "createdAt")),
        heartbeat_at=_seconds(_told(run, "heartbeatAt")),
        last_step=int(last) if isinstance(last, int | float) else -1,
        rows=int(rows) if isinstance(rows, int | float) else 0,
        config=config,
        # One for each time that the run was started.
        machine=max(machines, key=lambda machine: str(machine.get("startedAt", "")), default={}),
        system=_mapping(_told(run, "systemMetrics")),
    )


def _told(run: Any, name: str) -> object:
    """A field of the answer; None where this server does not tell it."""
    return getattr(run, name, None)


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _seconds(value: object) -> float | None:
    """Unix seconds of a moment in ISO 8601, in UTC unless it says otherwise."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
