"""One HTTP request, answered or explained. Its one rule: what goes wrong is one line, without any secret.

The timeout is of each wait for the other side, not of the whole: this is for threads that may wait.
"""

import base64
import zlib
from http.client import HTTPException
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from ...models.text import printable

TIMEOUT_S = 5.0
LIMIT = 64_000_000
"""Bytes of an answer; a page of metrics of 128 nodes has 7 million."""


HINTS = {
    401: ": put the name and password into the address, as http://name:password@host",
    403: ": not allowed for you",
    404: ": there is no such page on it",
}


class FetchError(Exception):
    """No answer that can be used; the message is one line."""


class Address(NamedTuple):
    """A URL, and apart from it the name and password that it came with."""

    url: str
    host: str
    """host:port, as people call it."""
    authorization: str | None = None


def address_of(url: str) -> Address:
    """The parts of a URL.

    Raises:
        ValueError: it is no HTTP address; the message says what is wrong.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise ValueError("not an address that begins with http:// or https://")
    if not parts.hostname:
        raise ValueError("names no host")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if parts.port is not None:  # raises ValueError for what is no port
        host = f"{host}:{parts.port}"
    bare = SplitResult(parts.scheme, host, parts.path, parts.query, "")
    return Address(urlunsplit(bare), host, _basic(parts))


def get(address: Address, body: bytes | None = None, timeout_s: float = TIMEOUT_S) -> bytes:
    """The answer to GET, or to POST of a form.

    Raises:
        FetchError: there is none.
    """
    request = Request(address.url, data=body, headers={"Accept-Encoding": "gzip", "User-Agent": "rltop"})
    if address.authorization:
        request.add_unredirected_header("Authorization", address.authorization)
    try:
        with urlopen(request, timeout=timeout_s) as answer:
            data = answer.read(LIMIT + 1)
            if answer.headers.get("Content-Encoding") == "gzip":
                data = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data, LIMIT + 1)
    except HTTPError as error:
        hint = HINTS.get(error.code, "")
        raise FetchError(f"{address.host} answers {error.code} {printable(error.reason)}{hint}") from None
    except URLError as error:
        raise FetchError(f"{address.host}: {_why(error.reason)}") from None
    except (OSError, HTTPException, zlib.error, EOFError) as error:
        raise FetchError(f"{address.host}: {_why(error)}") from None
    if len(data) > LIMIT:
        raise FetchError(f"{address.host} answers with more than {LIMIT // 1_000_000} MB")
    return data


def _basic(parts: SplitResult) -> str | None:
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _why(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "does not answer"
    if isinstance(error, OSError):
        return printable(error.strerror or str(error) or type(error).__name__).lower()
    return printable(str(error) or type(error).__name__)
