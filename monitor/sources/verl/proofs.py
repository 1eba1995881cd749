"""What the metrics of a single step prove about the whole run.

Its one rule: a fact that the run has printed itself is left alone; what was inferred says how.
"""

from collections.abc import Iterator, Mapping

from ....models.run import Algorithm, RunInfo
from .cliptrust import clip_of
from .shape import shape_of
from .steps import gpus_of
from .version import BEFORE_03, V1

NOTHING = RunInfo()


def proved(
    step: int, values: Mapping[str, float], version: str | None, known: RunInfo, gpus_known: bool
) -> RunInfo:
    """The facts that are new. `gpus_known`: the run has printed how many GPUs it holds."""
    facts: dict[str, object] = {}
    if known.framework_version is None and version is not None:
        facts["framework_version"] = version
    if known.first_step is None:
        facts["first_step"] = 0 if step == 0 or (step > 1 and version == BEFORE_03) else 1
    if known.algorithm is None and (algorithm := _algorithm(values)):
        facts["algorithm"] = algorithm
    if known.reference_pass is None and ("timing_s/gen" in values or "timing/gen" in values):
        facts["reference_pass"] = "timing_s/ref" in values or "timing/ref" in values
    if known.multi_turn is None and values.get("num_turns/mean", 0.0) > 2:
        facts["multi_turn"] = True
    notes = list(_remarks(values, version, bool(known.multi_turn or facts.get("multi_turn"))))
    if not gpus_known and (gpus := gpus_of(values)) and gpus != known.gpus:
        facts["gpus"] = gpus
        notes.append(f"{gpus} GPUs: tokens / (step time × throughput per GPU), as logged")
    if known.max_tokens is None and (cap := clip_of(values, version, None).cap) is not None:
        facts["max_tokens"] = cap
        notes.append(f"cap of {cap} tokens: the longest response of step {step}, where some were clipped")
    if notes := [note for note in notes if note not in known.notes]:
        facts["notes"] = tuple(notes)
    return RunInfo.model_validate(facts) if facts else NOTHING


def _remarks(values: Mapping[str, float], version: str | None, multi_turn: bool) -> Iterator[str]:
    mfu = values.get("perf/mfu/actor", values.get("mfu/actor"))
    if mfu is not None and (mfu == 0 or mfu == float("inf")):
        yield "veRL does not know this GPU's peak or this model: it logs an MFU of 0, taken as unknown"
    elif mfu is not None and mfu > 1:
        yield f"veRL logs an MFU above 1 ({mfu:.2f}), so its peak for this GPU is wrong: not shown"
    if multi_turn and "response_length/mean" in values:
        yield "response lengths count what tools and environment answered, too"
    if version == V1:
        yield "veRL 0.9 counts padding rows in its total of tokens"
    elif version == BEFORE_03:
        yield "veRL before 0.3 logs no step time: the sum of its phases stands for it"


def _algorithm(values: Mapping[str, float]) -> Algorithm | None:
    if "train/loss" in values:
        return "sft"
    if "critic/vf_loss" in values:
        return "ppo"
    return "rl" if shape_of(values).actor else None
