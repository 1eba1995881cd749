"""`ray:http://head:8265/JOB`: a job of a Ray cluster, through its dashboard.

Its one rule: address and headers are had as Ray's own command line has them, and no header is ever shown.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from ...models.text import printable
from ..source import Source
from ..target import TargetError
from .mirror import MirrorSource
from .ray_api import Head
from .ray_follow import RayFilling

PREFIX = "ray:"
DEFAULT = "http://127.0.0.1:8265"
USAGE = "give ray:http://HEAD:8265/JOB, or ray:http://HEAD:8265 for the one that runs"


class Address(NamedTuple):
    """Where a job is."""

    base: str
    """The dashboard, without a slash at the end."""
    job: str | None


def open(target: str) -> Sequence[Source]:
    """The source of a Ray job.

    Raises:
        TargetError: it is not of the form above, or the environment holds something that is of no use.
    """
    address = address_of(target, os.environ)
    head = Head(address.base, headers_of(os.environ))
    return (MirrorSource("ray", RayFilling(head, f"{PREFIX}{address.base}", address.job)),)


def address_of(target: str, env: Mapping[str, str]) -> Address:
    """What a target means: `ray:` and `ray:JOB` are at the address that Ray's own commands would use.

    The last part of a path is the job, unless a slash ends it: a dashboard behind a proxy has a path itself.

    Raises:
        TargetError: it is no address of a dashboard.
    """
    words = target.removeprefix(PREFIX)
    if "://" not in words:
        return Address(_default(env), unquote(words).strip("/") or None)
    return _parse(words, target)


def headers_of(env: Mapping[str, str]) -> dict[str, str]:
    """The headers that say who asks: RAY_JOB_HEADERS, and the token where there is one.

    Raises:
        TargetError: RAY_JOB_HEADERS is not JSON; or RAY_AUTH_MODE asks for a token, and there is none.
    """
    headers: dict[str, str] = {}
    if given := env.get("RAY_JOB_HEADERS"):
        try:
            told: object = json.loads(given)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise TargetError('RAY_JOB_HEADERS: not JSON like {"Name": "value"}')
        headers = {str(name): str(value) for name, value in told.items()}  # pyright: ignore
    if any(not f"{name}{value}".isprintable() for name, value in headers.items()):
        raise TargetError("RAY_JOB_HEADERS: a header holds what no header can hold")
    token = _token(env)
    if token and "authorization" not in {name.lower() for name in headers}:
        headers["Authorization"] = f"Bearer {token}"
    return headers


def _token(env: Mapping[str, str]) -> str:
    """Where Ray's own client looks for it, and only if it would."""
    mode = env.get("RAY_AUTH_MODE", "").lower()
    if mode == "disabled":
        return ""
    if token := env.get("RAY_AUTH_TOKEN", "").strip():
        return token
    usual = str(Path.home() / ".ray" / "auth_token") if mode == "token" else ""
    path = env.get("RAY_AUTH_TOKEN_PATH") or usual
    if not path:
        return ""
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise TargetError(f"{path}: holds no token; RAY_AUTH_MODE or RAY_AUTH_TOKEN_PATH says so") from None


def _default(env: Mapping[str, str]) -> str:
    for name in ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS"):
        if value := env.get(name):
            if not value.startswith(("http://", "https://")):
                raise TargetError(
                    f"{name}={printable(value)}: not the address of a dashboard, such as {DEFAULT}: {USAGE}"
                )
            return _parse(f"{value.rstrip('/')}/", name).base
    return DEFAULT


def _parse(url: str, called: str) -> Address:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if "@" in parts.netloc:
        raise TargetError(f"{PREFIX}: no user or password in the address, please: give it in RAY_JOB_HEADERS")
    if not host or parts.scheme not in ("http", "https") or not url.isprintable() or " " in parts.netloc:
        raise TargetError(f"{printable(called)}: not the address of a dashboard: {USAGE}")
    path, _, job = parts.path.rpartition("/")
    if parts.fragment.startswith("/jobs/"):  # as copied from the browser
        path, job = parts.path.rstrip("/"), parts.fragment.removeprefix("/jobs/").partition("/")[0]
    return Address(f"{parts.scheme}://{parts.netloc}{path}", unquote(job) or None)
