"""`rltop notify`: who would be told of alerts; with --test, a message to each and what came of it."""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..models.settings import Settings, SettingsError
from ..models.text import printable
from ..monitor.config import load
from ..monitor.notify.message import Message
from ..monitor.notify.receiver import AppriseReceiver, receivers_of
from ..monitor.notify.urls import resolved
from .flags import UNUSABLE, complain, config_files
from .telling import addresses

TEST = Message(
    title="rltop: a test",
    body="If you read this, alerts of your runs will reach you here.",
    mood="info",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Whom to try."""
    parser.add_argument("--test", action="store_true", help="send a message to each and say what came of it")
    parser.add_argument(
        "--url", action="append", metavar="URL", help="this address instead of notify.urls; can be repeated"
    )


def run(args: argparse.Namespace) -> int:
    """List the receivers, or try each; 3 when one cannot be used or reached."""
    settings = Settings.model_validate(load(config_files())).notify
    urls = resolved(args.url, os.environ) if args.url else addresses(settings)
    if not urls:
        files = " or ".join(str(path if path.is_absolute() else Path.cwd() / path) for path in config_files())
        return complain(f'nobody to tell: write urls = ["$NAME"] under [notify] in {files}')
    receivers = receivers_of(urls)
    for receiver in receivers:
        if why := receiver.check():
            raise SettingsError(f"{receiver.name}: {why}")
    if not args.test:
        print("\n".join(receiver.name for receiver in receivers))
        print(f"alerts from {settings.severity} on; `rltop notify --test` sends a message to each")
        return 0
    with ThreadPoolExecutor(len(receivers)) as pool:
        failed = list(pool.map(_try, receivers))
    for receiver, why in zip(receivers, failed, strict=True):
        print(printable(f"{receiver.name}: {f'failed: {why}' if why else 'delivered'}"))
    return UNUSABLE if any(failed) else 0


def _try(receiver: AppriseReceiver) -> str:
    return receiver.deliver(TEST)
