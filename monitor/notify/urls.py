"""Where notifications go, as the user wrote it: references to the environment put in. Pure: it is handed in.

Its one rule: a variable of any name may hold a whole address, but only one whose name begins with RLTOP_ may
stand inside an address. Settings lie in project folders too, and one that somebody else wrote must not be
able to send any secret of the environment anywhere.
"""

import re
from collections.abc import Mapping, Sequence

from ...models.settings import SettingsError

OWN = "RLTOP_"
_WHOLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))\s*$")
_INSIDE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def resolved(urls: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """The addresses themselves.

    Raises:
        SettingsError: a variable is not set, or may not stand where it does; the message holds no address.
    """
    return tuple(_resolved(url, place, environment) for place, url in enumerate(urls, start=1))


def is_plain(url: str) -> bool:
    """Whether the address stands there in plain text, with whatever secret is in it."""
    return not (_WHOLE.match(url.strip()) or _INSIDE.search(url))


def _resolved(url: str, place: int, environment: Mapping[str, str]) -> str:
    url = url.strip()
    if whole := _WHOLE.match(url):
        return _value(whole[1] or whole[2], place, environment)

    def value(found: re.Match[str]) -> str:
        if not found[1].startswith(OWN):
            raise SettingsError(
                f"notify.urls: url {place}: inside an address only variables named {OWN}… are put in; "
                f"rename {found[1]}, or let a variable hold the whole address"
            )
        return _value(found[1], place, environment)

    return _INSIDE.sub(value, url)


def _value(name: str, place: int, environment: Mapping[str, str]) -> str:
    value = environment.get(name, "").strip()
    if not value:
        raise SettingsError(f"notify.urls: url {place}: the environment has no {name}")
    return value
