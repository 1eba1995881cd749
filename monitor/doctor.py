"""What rltop finds on this machine, and the way to what it does not. Its one rule: no secret is read or told.

Keys are looked for, never looked at. Nothing is asked over the network but a Ray dashboard on this machine.
"""

import os
import platform
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from netrc import NetrcParseError, netrc
from pathlib import Path
from typing import Literal, NamedTuple

from ..models.text import printable

Verdict = Literal["ok", "missing", "wrong"]
RAY_DASHBOARD = ("127.0.0.1", 8265)
RAY_ADDRESSES = Path("/tmp/ray/prom_metrics_service_discovery.json")
NVML_PATIENCE_S = 15.0
CONNECT_S = 0.5


class Finding(NamedTuple):
    """One thing that rltop can use."""

    name: str
    verdict: Verdict
    """`missing`: rltop does without; `wrong`: it is there and does not work."""
    found: str
    """One line."""
    fix: str = ""
    """One line; empty where nothing needs to be done."""


class Screen(NamedTuple):
    """What is known of the terminal."""

    is_terminal: bool
    columns: int
    lines: int
    encoding: str


def findings(
    screen: Screen, environment: Mapping[str, str] | None = None, home: Path | None = None
) -> list[Finding]:
    """Everything, in the order in which it is shown."""
    env = os.environ if environment is None else environment
    folder = Path.home() if home is None else home
    looks: Iterable[Callable[[], Finding]] = (
        python,
        lambda: terminal(screen, env),
        lambda: colour(screen, env),
        nvml,
        lambda: wandb(env, folder),
        lambda: tinker(env, folder),
        lambda: ray(env),
        lambda: ssh(env),
    )
    return [look() for look in looks]


def python() -> Finding:
    """What rltop runs on."""
    return Finding(
        "python", "ok", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    )


def terminal(screen: Screen, env: Mapping[str, str]) -> Finding:
    """Whether there is one, how large it is, and whether it can show what is drawn."""
    if not screen.is_terminal:
        return Finding(
            "terminal", "missing", "no terminal here", "the screen needs one; check, follow and report do not"
        )
    size = f"{screen.columns}×{screen.lines}, {env.get('TERM') or 'TERM is not set'}, {screen.encoding}"
    if "utf" not in screen.encoding.lower():
        return Finding("terminal", "wrong", size, "export LC_ALL=C.UTF-8, or use --ascii")
    if screen.columns < 80 or screen.lines < 24:
        return Finding("terminal", "wrong", size, "enlarge it to 80×24 or more, to see all panels")
    return Finding("terminal", "ok", size)


def colour(screen: Screen, env: Mapping[str, str]) -> Finding:
    """How many colours there are."""
    if env.get("NO_COLOR"):
        return Finding("colour", "ok", "none, as NO_COLOR asks; signs and words tell all")
    if not screen.is_terminal:
        return Finding("colour", "missing", "none without a terminal")
    term = env.get("TERM", "")
    if env.get("COLORTERM") in ("truecolor", "24bit"):
        return Finding("colour", "ok", "16 million colours")
    if "256color" in term:
        return Finding("colour", "ok", "256 colours", "export COLORTERM=truecolor, if the terminal has more")
    if term in ("", "dumb"):
        return Finding(
            "colour", "wrong", "none by TERM", "export TERM=xterm-256color, if the terminal has colours"
        )
    return Finding("colour", "ok", "16 colours", "export TERM=xterm-256color, if the terminal has more")


def nvml() -> Finding:
    """The GPUs of this machine, or why there are none."""
    from .clock import SystemClock
    from .telemetry.nvml import NvmlProbe
    from .telemetry.sampler import Sampler

    clock = SystemClock()
    sampler = Sampler(NvmlProbe("here"))
    try:
        sampler.order(clock.now())
        sampler.wait(NVML_PATIENCE_S)
        now = clock.now()
        told = sampler.latest(now)
        reason = sampler.reason(now)
    finally:
        sampler.close()
    gpus = [gpu for sample in told for gpu in getattr(sample, "gpus", ())]
    if not gpus:
        return Finding("NVML", "missing", reason, "GPUs elsewhere: --gpus-from ssh://HOST, or docs/gpus.md")
    name = next((gpu.name for gpu in gpus if gpu.name), "GPU of unknown name")
    lost = any(gpu.state != "ok" for gpu in gpus)
    what = f"{len(gpus)} × {name}"
    if reason:
        return Finding("NVML", "wrong" if lost else "ok", f"{what}; {reason}", "see docs/gpus.md")
    return Finding("NVML", "ok", what)


def wandb(env: Mapping[str, str], home: Path) -> Finding:
    """Whether runs can be read from the server; its files are read without it."""
    server = env.get("WANDB_BASE_URL", "https://api.wandb.ai").partition("://")[2].partition("/")[0]
    if find_spec("wandb") is None:
        return Finding(
            "W&B", "missing", "not installed; its local files are read", "pip install 'rltop[wandb]'"
        )
    if env.get("WANDB_API_KEY"):
        return Finding("W&B", "ok", "a key in WANDB_API_KEY")
    try:
        known = (
            netrc(env.get("NETRC") or str(home / ".netrc")).authenticators(server.partition(":")[0])
            is not None
        )
    except FileNotFoundError:
        known = False
    except NetrcParseError as error:  # its text has the word that it stumbled over, which may be the key
        return Finding("W&B", "wrong", f"the netrc file cannot be read: line {error.lineno}", "wandb login")
    except OSError as error:
        return Finding("W&B", "wrong", f"the netrc file cannot be read: {error.strerror}", "wandb login")
    if known:
        return Finding("W&B", "ok", f"logged in to {printable(server)}")
    return Finding("W&B", "missing", f"not logged in to {printable(server)}", "wandb login")


def tinker(env: Mapping[str, str], home: Path) -> Finding:
    """Whether bills can be asked for; run folders are read without it."""
    ways = {
        "a key in TINKER_API_KEY": bool(env.get("TINKER_API_KEY")),
        "a command in TINKER_CREDENTIAL_CMD": bool(env.get("TINKER_CREDENTIAL_CMD")),
        "logged in": (home / ".tinker" / "credentials.json").is_file(),
    }
    way = next((way for way, there in ways.items() if there), None)
    if way is None:
        return Finding("Tinker", "missing", "no key; run folders are read without", "tinker auth login")
    if find_spec("tinker") is None:
        return Finding(
            "Tinker", "missing", f"{way}, but its package is not installed", "pip install 'rltop[tinker]'"
        )
    return Finding("Tinker", "ok", way)


def ray(env: Mapping[str, str]) -> Finding:
    """Whether this is the head of a cluster."""
    fix = "on the head: --gpus-from ray; from elsewhere: --gpus-from ray:http://HEAD:8265"
    dashboard = _listens(*RAY_DASHBOARD)
    if RAY_ADDRESSES.is_file() and dashboard:
        return Finding("Ray", "ok", "a head runs here, with its dashboard on port 8265")
    if RAY_ADDRESSES.is_file():
        return Finding("Ray", "missing", "a head has run here; no dashboard on port 8265", fix)
    if dashboard:
        return Finding(
            "Ray", "ok", "something answers on 127.0.0.1:8265", "--gpus-from ray:http://127.0.0.1:8265"
        )
    if env.get("RAY_ADDRESS"):
        return Finding("Ray", "missing", "RAY_ADDRESS is set; no head runs here", fix)
    return Finding("Ray", "missing", "no head runs here", fix)


def ssh(env: Mapping[str, str]) -> Finding:
    """Whether other machines can be read."""
    program = shutil.which("ssh", path=env.get("PATH"))
    if program is None:
        return Finding("ssh", "missing", "no ssh here", "install OpenSSH's client, such as openssh-client")
    try:
        done = subprocess.run([program, "-V"], capture_output=True, timeout=5, check=False)
        version = printable(done.stderr.decode("utf-8", "replace").strip().partition(",")[0])
    except (OSError, subprocess.TimeoutExpired):
        return Finding("ssh", "wrong", f"{program} does not start", "ssh -V")
    if env.get("SSH_AUTH_SOCK"):
        return Finding("ssh", "ok", f"{version}, with an agent")
    return Finding("ssh", "ok", f"{version}, without an agent", "a key with a passphrase needs one: ssh-add")


def _listens(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), CONNECT_S):
            return True
    except OSError:
        return False
