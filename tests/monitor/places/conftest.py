"""A W&B server, and runs followed on it by W&B's own package."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rltop.models.event import Event
from rltop.monitor.places.wandb_api_run import ApiRun
from rltop.monitor.reader import Pause

from .wandb_server import KEY, WandbServer, serving


class Turns(Pause):
    """A pause that takes no time: in each something happens, and after the last all is over."""

    def __init__(self, acts: tuple[Callable[[], object], ...]) -> None:
        super().__init__()
        self.waited_s: list[float] = []
        self._acts = list(acts)

    def wait(self, timeout: float | None = None) -> bool:
        self.waited_s.append(timeout or 0.0)
        if not self._acts:
            return True
        self._acts.pop(0)()
        return False


class Followed:
    """What was told of a run, and what that cost."""

    def __init__(self, server: WandbServer, run: str, acts: tuple[Callable[[], object], ...]) -> None:
        entity, project, run_id = run.split("/")
        self.turns = Turns(acts)
        server.asked.clear()
        self.events: list[Event] = []
        self.lists = 0
        for events in ApiRun(entity, project, run_id, server.url).read(self.turns):
            self.events += events
            self.lists += bool(events)
        self.asked = list(server.asked)


Follow = Callable[..., Followed]


@pytest.fixture(scope="module")
def wandb_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WandbServer]:
    """The server, logged in to; what W&B's package puts into the environment is taken out again."""
    before = dict(os.environ)
    nothing: Path = tmp_path_factory.mktemp("no-login")
    with serving() as server:
        os.environ.update(WANDB_API_KEY=KEY, NETRC=str(nothing / "netrc"), WANDB_CONFIG_DIR=str(nothing))
        for name in ("MIN", "MAX"):  # it waits 2 s before it repeats a question
            os.environ[f"WANDB_X_GRAPHQL_RETRY_WAIT_{name}_SECONDS"] = "1"
        yield server
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def wandb_server(wandb_service: WandbServer) -> WandbServer:
    """The server, empty and well."""
    wandb_service.runs.clear()
    wandb_service.refusals.clear()
    wandb_service.denied.clear()
    wandb_service.down = wandb_service.breaks_after = None
    return wandb_service


@pytest.fixture
def follow(wandb_server: WandbServer) -> Follow:
    """Follow a run; between two looks the next of `acts` happens."""

    def following(run: str, *acts: Callable[[], object]) -> Followed:
        return Followed(wandb_server, run, acts)

    return following
