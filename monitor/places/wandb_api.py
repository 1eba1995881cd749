"""A W&B run by its name or its address: `wandb:entity/project/run`, `https://wandb.ai/entity/project/runs/ID`.

Its one rule: words are judged here, before anything connects; what the server thinks of them is a status.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from ..reader import Reader
from ..source import Source
from ..sources.wandb_local import TELLS as FILE_TELLS
from ..target import TargetError
from .wandb_api_run import ApiRun

PREFIX = "wandb:"
TELLS = replace(FILE_TELLS, state="W&B's word, doubted where steps are missing")
CLOUDS = {
    "wandb.ai": "https://api.wandb.ai",
    "www.wandb.ai": "https://api.wandb.ai",
    "api.wandb.ai": "https://api.wandb.ai",
    "forge.coreweave.com": "https://api.forge.coreweave.com",
    "api.forge.coreweave.com": "https://api.forge.coreweave.com",
}
"""Where the API of a host answers; a server of one's own answers at its own address."""
APP_FOLDERS = ("wandb", "api")
"""What the path of a page begins with where W&B shares a host."""
OLDEST = (0, 28)
"""The oldest version of W&B's package that reads through its `wandb-core`, as this is written for."""
INSTALL = "reading from W&B needs its own package: pip install 'rltop[wandb]'"


class Named(NamedTuple):
    """What a target names."""

    entity: str
    project: str
    run: str
    """Empty where a project is named, but no run of it."""
    base_url: str | None
    """Address of the API; None for the one that W&B itself is set to."""

    @property
    def path(self) -> str:
        return "/".join(part for part in (self.entity, self.project, self.run) if part)


def open(target: str) -> Sequence[Source]:
    """The source of a run. Does not connect yet.

    Raises:
        TargetError: it is no name or address of a run, or W&B's package is not installed.
    """
    named = named_by(target)
    try:
        installed = version("wandb")
    except PackageNotFoundError:
        raise TargetError(f"{PREFIX}{named.path}: {INSTALL}") from None
    if tuple(int(part) for part in re.findall(r"\d+", installed)[:2]) < OLDEST:
        raise TargetError(f"{PREFIX}{named.path}: wandb {installed} is too old: {INSTALL}")
    return (Reader("wandb", ApiRun(named.entity, named.project, named.run, named.base_url).read),)


def named_by(target: str) -> Named:
    """What a target names.

    Raises:
        TargetError: it names neither a run nor a project.
    """
    words = target.removeprefix(PREFIX).strip()
    target = re.sub(r"(?<=://)[^/@]*@", "", target)  # as it is shown: without a password
    base_url = None
    if words.startswith(("https://", "http://")):
        base_url, words = _split(target, words)
    parts = [unquote(part) for part in words.split("?")[0].split("#")[0].split("/") if part]
    if len(parts) > 3 and parts[2] in ("runs", "groups", "sweeps"):
        kind = parts.pop(2)
        if kind != "runs":
            raise TargetError(f"{target}: names {kind}, not a run; wandb:entity/project/run names one")
    elif base_url is not None:
        parts = parts[:2]  # a page of the project
    if len(parts) < 2 or (base_url is None and len(parts) > 3):
        raise TargetError(
            f"{target}: not a W&B run; name one as wandb:entity/project/run or by its address, "
            "https://wandb.ai/entity/project/runs/ID"
        )
    return Named(parts[0], parts[1], parts[2] if len(parts) > 2 else "", base_url)


def _split(target: str, url: str) -> tuple[str, str]:
    """(address of the API, path below it) of the address of a page."""
    try:
        split = urlsplit(url)
        host, port = split.hostname, split.port
    except ValueError as error:
        raise TargetError(f"{target}: not an address: {error}") from None
    if not host:
        raise TargetError(f"{target}: not an address: it names no host")
    own = f"{split.scheme}://{host}" + (f":{port}" if port else "")
    path = split.path.strip("/")
    first = path.split("/")[0]
    if first in APP_FOLDERS and "/runs/" in path.partition("/")[2].partition("/")[2]:
        path = path.partition("/")[2]
    configured = os.environ.get("WANDB_BASE_URL", "").rstrip("/")
    if configured and (configured.startswith(own) or os.environ.get("WANDB_APP_URL", "").startswith(own)):
        return configured, path
    return CLOUDS.get(host, own), path
