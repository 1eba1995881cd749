"""From an address to what reads it. Its one rule: an address that cannot be meant is refused at once.

Backends are imported when an address asks for one, as each brings what the others do not need.
"""

import re
import socket
from collections.abc import Sequence
from pathlib import Path

from ...models.settings import SettingsError
from ...models.text import printable
from .sampler import Sampler
from .source import GpuSource

FORMS = (
    "local, ssh://HOST[,HOST…], http://HOST:9400/metrics, prom:http://HOST:9090, ray, ray:http://HEAD:8265"
)
FLEET_S = 5.0
"""Pause between looks over the network: what is asked there takes its own figures no more often."""
ENGINE_S = 2.0
SECRET = re.compile(r"//[^/@]*:[^/@]*@")
MATCHED = re.compile(r"(?P<url>[^{]+)\{(?P<matchers>.*)\}")


class PlaceError(SettingsError):
    """An address that means nothing; the message is one line."""


def local(host: str | None = None, want_tensor: bool = False) -> GpuSource:
    """The GPUs of this machine; `host` is what it is called on screen, by default its own name."""
    return GpuSource([_local(host, want_tensor)])


def gpus_from(places: Sequence[str], engines: Sequence[str] = (), want_tensor: bool = False) -> GpuSource:
    """The GPUs at all these addresses, and inference engines by the addresses of their metrics.

    Raises:
        PlaceError: one of them means nothing.
    """
    return GpuSource(samplers_at(places, engines, want_tensor))


def samplers_at(places: Sequence[str], engines: Sequence[str], want_tensor: bool = False) -> list[Sampler]:
    """What reads all these addresses.

    Raises:
        PlaceError: one of them means nothing.
    """
    samplers = [sampler for place in places for sampler in samplers_of(place, want_tensor)]
    return [*samplers, *(_page(engine, ENGINE_S, want_tensor) for engine in engines)]


def samplers_of(place: str, want_tensor: bool = False) -> list[Sampler]:
    """What reads one address.

    Raises:
        PlaceError: it means nothing.
    """
    kind, _, rest = place.partition(":")
    match kind:
        case "local" if not rest:
            return [_local(None, want_tensor)]
        case "ssh":
            return _over_ssh(place, rest, want_tensor)
        case "http" | "https":
            return [_page(place, FLEET_S, want_tensor)]
        case "prom":
            return [_prometheus(place, rest, want_tensor)]
        case "ray":
            return [_ray(place, rest, want_tensor)]
        case _:
            raise PlaceError(f"{shown(place)}: not a place to read GPUs from; known are {FORMS}")


def shown(place: str) -> str:
    """An address without the password that may be in it."""
    return printable(SECRET.sub("//…@", place))


def _local(host: str | None, want_tensor: bool) -> Sampler:
    from .nvml import NvmlProbe

    return Sampler(NvmlProbe(host or socket.gethostname()), want_tensor=want_tensor)


def _page(url: str, interval_s: float, want_tensor: bool) -> Sampler:
    from .fetch import address_of
    from .metrics_page import MetricsProbe

    try:
        address = address_of(url)
    except ValueError as error:
        raise PlaceError(f"{shown(url)}: {error}") from None
    if not address.url.partition("://")[2].partition("/")[2]:
        address = address._replace(url=address.url.rstrip("/") + "/metrics")
    return Sampler(MetricsProbe(address), interval_s, want_tensor)


def _prometheus(place: str, rest: str, want_tensor: bool) -> Sampler:
    from .fetch import address_of
    from .prometheus import PrometheusProbe

    matched = MATCHED.fullmatch(rest)
    url, matchers = (matched["url"], matched["matchers"]) if matched else (rest, "")
    try:
        return Sampler(PrometheusProbe(address_of(url), matchers), FLEET_S, want_tensor)
    except ValueError as error:
        raise PlaceError(f"{shown(place)}: {error}") from None


def _ray(place: str, rest: str, want_tensor: bool) -> Sampler:
    from .fetch import address_of
    from .ray import DISCOVERY, RayProbe

    if "://" not in rest:
        return Sampler(RayProbe(Path(rest) if rest else DISCOVERY), FLEET_S, want_tensor)
    try:
        return Sampler(RayProbe(address_of(rest)), FLEET_S, want_tensor)
    except ValueError as error:
        raise PlaceError(f"{shown(place)}: {error}") from None


def _over_ssh(place: str, rest: str, want_tensor: bool) -> list[Sampler]:
    from .ssh import SshProbe

    hosts = rest.removeprefix("//").rstrip("/").split(",")
    for host in hosts:
        # A host that begins with a dash would be an option to ssh.
        if not host or host.startswith("-") or not host.isprintable() or any(c in host for c in "/ '\""):
            raise PlaceError(
                f"{shown(place)}: give hosts as ssh knows them: ssh://HOST or ssh://USER@HOST,HOST2"
            )
    return [Sampler(SshProbe(host), want_tensor=want_tensor) for host in hosts]
