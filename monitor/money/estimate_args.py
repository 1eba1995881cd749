"""The inputs of an estimate from flags, a TOML file and a finished run.

The one rule: flags beat the file, the file beats the run, and the run beats the defaults.
"""

import tomllib
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Mapping
from math import ceil
from pathlib import Path

from pydantic import ValidationError

from ...models.estimate import EstimateInputs
from ...models.settings import TokenRates

PLATFORMS = ("both", "tinker", "self-hosted")
DATASET = ("dataset_size", "epochs")
"""Inputs that only serve to tell the number of steps."""


class InputError(ValueError):
    """The inputs cannot be used; the message is one line for the user."""


def add_arguments(parser: ArgumentParser) -> None:
    """All inputs as flags. None has a default here, so that a file or a run can supply it."""
    add = parser.add_argument
    add("--config", type=Path, metavar="FILE", help="a TOML file with the same names; flags win")
    what = parser.add_argument_group("the run")
    add = what.add_argument
    add("--model", help="hub id, with context tier where one is billed")
    add("--groups", type=int, metavar="N", help="prompts per step")
    add("--group-size", type=int, metavar="N", help="rollouts per prompt")
    add("--prompt-tokens", type=float, metavar="N", help="mean length of a prompt")
    add("--response-tokens", type=float, metavar="N", help="mean length of a response at the start, per turn")
    add("--growth", type=float, metavar="X", help="last over first response length (default 1.0)")
    add("--max-tokens", type=float, metavar="N", help="cap on a response")
    add("--steps", type=int, metavar="N", help="training steps; or:")
    add("--dataset-size", type=int, metavar="N", help="problems in the data set")
    add("--epochs", type=float, metavar="X", help="passes over the data set (default 1)")
    add("--turns", type=int, metavar="N", help="turns per episode (default 1)")
    add(
        "--tokens-per-turn",
        type=float,
        metavar="N",
        help="what each turn adds to the context, reply included",
    )
    add("--eval-every", type=int, metavar="N", help="steps between evaluations")
    add("--eval-problems", type=int, metavar="N", help="problems per evaluation")
    tinker = parser.add_argument_group("Tinker")
    add = tinker.add_argument
    add("--platform", choices=PLATFORMS, help="leave one platform out (default both)")
    add("--prices", metavar="DATE", help="price list in force on this day, YYYY-MM-DD (default: the newest)")
    add(
        "--price",
        type=rates,
        metavar="P,S,T[,C]",
        help="prefill,sample,train[,cached] in $ per million tokens",
    )
    add(
        "--accounting",
        choices=("billed", "published"),
        help="trained tokens: as billed, or completions alone",
    )
    add("--caching", choices=("none", "group", "turns", "both"), help="prefix caching (default none)")
    hosted = parser.add_argument_group("self-hosted")
    add = hosted.add_argument
    add("--gpus", type=int, metavar="N")
    add("--gpu-type", metavar="NAME", help="such as B200")
    add("--usd-per-gpu-hour", type=float, metavar="USD", help="your price for an hour of one GPU")
    add("--mfu", type=float, metavar="X", help="over the whole step, 0 to 1 (default 0.10)")
    add("--active-params-b", type=float, metavar="N", help="billions, for a model that is not in the table")
    add("--lora-rank", type=int, metavar="N", help="0 trains all weights (default)")
    add("--reference-pass", action=BooleanOptionalAction, help="log-probs of a reference model (default yes)")


def rates(text: str) -> TokenRates:
    """`0.07,0.22,0.22` or with a fourth figure for cached prefill."""
    try:
        prefill, sample, train, *cached = (float(part) for part in text.split(","))
    except ValueError:
        raise ArgumentTypeError("three or four numbers with commas between them") from None
    if len(cached) > 1 or min(prefill, sample, train, *cached) < 0:
        raise ArgumentTypeError("three or four prices, none below 0")
    return TokenRates(
        prefill=prefill, sample=sample, train=train, prefill_cached=cached[0] if cached else None
    )


def from_args(args: Namespace, measured: Mapping[str, object] | None = None) -> EstimateInputs:
    """The inputs; `measured` are those of a finished run (`measured_inputs`).

    Raises:
        InputError: something is missing, impossible, or not a name that is known.
    """
    known = {*EstimateInputs.model_fields, *DATASET}
    values = {name: value for name, value in (measured or {}).items() if value is not None}
    flags = {name: value for name in known if (value := getattr(args, name, None)) is not None}
    # Steps, and a data set that tells them, are one input: whoever says either replaces both.
    for said in (_from_file(args.config, known) if args.config else {}, flags):
        if "steps" in said or DATASET[0] in said:
            values = {name: value for name, value in values.items() if name not in ("steps", *DATASET)}
        values.update(said)
    size, epochs = values.pop("dataset_size", None), values.pop("epochs", 1)
    if size is not None and "steps" not in values:
        values["steps"] = _steps(size, epochs, values.get("groups"))
    try:
        return EstimateInputs.model_validate(values)
    except ValidationError as error:
        raise InputError(_one_line(error)) from None


def _steps(size: object, epochs: object, groups: object) -> int:
    """Steps of a data set: as many batches as it fills, the last one perhaps in part, times the epochs."""
    if not isinstance(size, int) or not isinstance(epochs, int | float) or not isinstance(groups, int):
        raise InputError("--dataset-size, --epochs and --groups must be numbers")
    if size <= 0 or epochs <= 0 or groups <= 0:
        raise InputError("--dataset-size, --epochs and --groups must be above 0")
    return max(1, ceil(ceil(size / groups) * epochs))


def _from_file(path: Path, known: set[str]) -> dict[str, object]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or 'cannot be read'}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    values: dict[str, object] = {name.replace("-", "_"): value for name, value in table.items()}
    unknown = sorted(values.keys() - known)
    if unknown:
        raise InputError(f"{path}: unknown name: {', '.join(unknown)}")
    if isinstance(values.get("price"), str):
        try:
            values["price"] = rates(str(values["price"]))
        except ArgumentTypeError as error:
            raise InputError(f"{path}: price: {error}") from None
    return values


def _one_line(error: ValidationError) -> str:
    """What is wrong, in the words of the flags."""
    missing: list[str] = []
    wrong: list[str] = []
    for problem in error.errors():
        flag = "--" + ".".join(str(part) for part in problem["loc"]).replace("_", "-")
        if problem["type"] == "missing":
            missing.append(flag if flag != "--steps" else "--steps (or --dataset-size)")
        else:
            wrong.append(f"{flag}: {problem['msg'].lower()}")
    if missing:
        wrong.insert(0, f"give {', '.join(missing)}")
    return "; ".join(wrong)
