"""A W&B server on this machine: as much of its GraphQL as the official client asks for when it reads runs."""

import json
import re
import threading
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

KEY = "0123456789" * 4
NAME = re.compile(r"\b(?:query|mutation)\s+(\w+)")


@dataclass
class ServedRun:
    """A run, as the server has it at the moment."""

    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """History rows, `_step` in each."""
    state: str = "running"
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    environments: Sequence[Mapping[str, Any]] = ()
    """One for each time that it was started."""
    system: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Rows of the system stream."""
    console: list[str] = field(default_factory=list[str])
    name: str = "a run"
    created: str = "2026-11-29T00:00:00"
    heartbeat: str = "2026-11-29T01:00:00"

    @property
    def last_step(self) -> int:
        last = self.rows[-1].get("_step") if self.rows else -1
        return last if isinstance(last, int) else 3


@dataclass
class Refusal:
    """What the server answers instead of data."""

    status: int
    retry_after: int | None = None
    errors: Sequence[str] = ()
    """GraphQL errors; then the status is 200 as a rule."""


class WandbServer:
    """Runs by `entity/project/id`; what was asked; what is to go wrong next."""

    def __init__(self) -> None:
        self.runs: dict[str, ServedRun] = {}
        self.asked: list[str] = []
        """Names of the GraphQL operations, in order."""
        self.refusals: deque[Refusal] = deque()
        """Taken one by one by the next questions."""
        self.down: Refusal | None = None
        """As long as it is set, the answer to everything."""
        self.breaks_after: int | None = None
        """Pages of history, after which two questions are refused: one, and its repetition."""
        self.denied: set[str] = set()
        """Runs that are there, but not shown."""
        self.url = ""

    def refusal(self, operation: str, variables: Mapping[str, Any]) -> Refusal | None:
        if self.breaks_after is not None and operation == "HistoryPage":
            self.breaks_after -= 1
            if self.breaks_after < 0:
                if self.breaks_after == -2:
                    self.breaks_after = None
                return Refusal(500)
        if f"{variables.get('entity')}/{variables.get('project')}/{variables.get('name')}" in self.denied:
            return Refusal(200, errors=["permission denied to access the project"])
        return self.down or (self.refusals.popleft() if self.refusals else None)

    def answer(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        if "serverInfo" in query:
            return {"serverInfo": {"features": [], "cliVersionInfo": {}, "latestLocalVersionInfo": None}}
        if "project(" not in query:
            return {"viewer": VIEWER}
        project = f"{variables.get('entity')}/{variables.get('project')}/"
        if "runs(" in query:
            return self._listed(project, variables)
        named = next((variables[key] for key in ("name", "run", "runName") if key in variables), "")
        run = self.runs.get(f"{project}{named}")
        if run is None:
            known = any(name.startswith(project) for name in self.runs)
            return {"project": {"run": None} if known else None}
        return {"project": {"run": _told(run, query, variables)}}

    def _listed(self, project: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        names = [name for name in self.runs if name.startswith(project)]
        if not names:
            return {"project": None}
        names.sort(key=lambda name: self.runs[name].created, reverse=True)
        edges = [
            {"node": {**_attributes(self.runs[name]), "name": name.removeprefix(project)}, "cursor": name}
            for name in names[: variables.get("perPage") or 50]
        ]
        page = {"endCursor": None, "hasNextPage": False}
        runs = {"edges": edges, "pageInfo": page}
        return {"project": {"internalId": "1", "runCount": len(names), "readOnly": False, "runs": runs}}


VIEWER: Mapping[str, Any] = {
    "id": "VXNlcjox",
    "entity": "team",
    "username": "someone",
    "email": "someone@example.org",
    "flags": "{}",
    "name": "someone",
    "admin": False,
    "apiKeys": {"edges": []},
    "teams": {"edges": []},
}


def _attributes(run: ServedRun) -> dict[str, Any]:
    config = {key: {"desc": None, "value": value} for key, value in run.config.items()}
    writers = {f"writer{number}": environment for number, environment in enumerate(run.environments)}
    config["_wandb"] = {"value": {"e": writers} if writers else {}}
    keys = {key for row in run.rows[-50:] for key in row}
    return {
        "projectId": "1",
        "id": "UnVuOjE=",
        "name": "id",
        "tags": [],
        "displayName": run.name,
        "sweepName": None,
        "state": run.state,
        "config": json.dumps(config),
        "group": None,
        "jobType": None,
        "commit": None,
        "readOnly": False,
        "createdAt": run.created,
        "heartbeatAt": run.heartbeat,
        "description": None,
        "notes": None,
        "systemMetrics": json.dumps(run.system[-1] if run.system else {}),
        "summaryMetrics": json.dumps(run.rows[-1] if run.rows else {}),
        "historyLineCount": len(run.rows),
        "user": {"name": "someone", "username": "someone"},
        "historyKeys": {
            "lastStep": run.last_step,
            "sets": [],
            "keys": {key: {"typeCounts": [{"type": "number", "count": 1}]} for key in keys},
        },
    }


def _told(run: ServedRun, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a query asks of a run."""
    if "parquetHistory" in query:
        return {"parquetHistory": {"parquetUrls": [], "liveData": [{"_step": 0}]}}
    if re.search(r"\bhistory\s*\(", query):
        low, high = variables.get("minStep") or 0, variables.get("maxStep") or 0
        steps = [row.get("_step") for row in run.rows]
        rows = [
            row
            for row, step in zip(run.rows, steps, strict=True)
            if not isinstance(step, int) or low <= step < high
        ]
        return {"history": [json.dumps(row) for row in rows[: variables.get("pageSize")]]}
    if re.search(r"\bevents\s*\(", query):
        return {"events": [json.dumps(row) for row in run.system]}
    if "logLines" in query:
        edges = [
            {"node": {"number": n, "timestamp": run.created, "level": "", "label": "", "line": line}}
            for n, line in enumerate(run.console)
        ]
        page = {"hasNextPage": False, "endCursor": ""}
        kept = edges[-(variables.get("last") or variables.get("first") or 1000) :]
        return {"logLineCount": len(edges), "logLines": {"edges": kept, "pageInfo": page}}
    if "files(" in query:
        return {"fileCount": 0, "files": {"edges": [], "pageInfo": {"endCursor": None, "hasNextPage": False}}}
    if "historyKeys" in query and "displayName" not in query:
        return {"historyKeys": _attributes(run)["historyKeys"]}
    return {**_attributes(run), "name": variables.get("name")}


@contextmanager
def serving() -> Generator[WandbServer]:
    """A server on a port of its own."""
    wandb = WandbServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.path != "/graphql":  # the client's own telemetry
                return self._send(200, {})
            asked = cast("dict[str, Any]", json.loads(body))
            query: str = asked["query"]
            found = NAME.search(query)
            operation = found[1] if found else "?"
            wandb.asked.append(operation)
            refusal = wandb.refusal(operation, asked.get("variables") or {})
            if refusal is not None:
                errors = [{"message": message} for message in refusal.errors]
                return self._send(refusal.status, {"errors": errors, "data": None}, refusal.retry_after)
            self._send(200, {"data": wandb.answer(query, asked.get("variables") or {})})

        def _send(self, status: int, value: object, retry_after: int | None = None) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            if retry_after is not None:
                self.send_header("Retry-After", str(retry_after))
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    wandb.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield wandb
    finally:
        server.shutdown()
        server.server_close()
