"""Wall time of a step and of its phases, from the timing keys of each version. Pure.

The one rule: no second is counted twice. Spans that run side by side are sums and no wall time: left out.
"""

from collections.abc import Mapping

from ....models.run import Algorithm
from ....models.step import PhaseName

SHORTEST_S = 0.001
"""A phase below is the cost of finding nothing to do, such as evaluations without evaluators."""


def duration_of(told: Mapping[str, float], algorithm: Algorithm | None) -> float | None:
    """Wall seconds of the step.

    In RL `time/total` covers the whole iteration with its evaluations and checkpoints. The supervised loop
    submits a batch before it has finished the one before: there `time/total` runs from submitting to
    finishing, two batches overlap, and the wall time is that of the two calls that alternate.
    """
    if algorithm == "sft":
        calls = [told[key] for key in ("time/submit_batch", "time/finish_batch") if key in told]
        if calls:
            return sum(calls)
        if "time/step" in told:
            return sum(told.get(f"time/{name}", 0.0) for name in _SUPERVISED)
    return told.get("time/total", told.get("time/step"))


_SUPERVISED = ("get_batch", "evals", "infrequent_evals", "save_checkpoint", "step")


def is_checkpoint(
    told: Mapping[str, float], step: int, save_every: int | None, algorithm: Algorithm | None
) -> bool:
    """Whether `time/save_checkpoint` is a checkpoint, and not the weights going to the sampler."""
    if algorithm in ("sft", "dpo") or "time/save_checkpoint_async" in told:
        return True
    if not save_every or "time/train" not in told:
        return False
    return (step + 1) % save_every == 0  # version 0.1 says it nowhere


def phases_of(told: Mapping[str, float], duration: float | None, saved: bool) -> dict[PhaseName, float]:
    """Wall seconds by phase, of keys that do not overlap.

    Spans that run many at a time (`policy_sample:total`, `env_step:total`) are sums and no wall time.
    """
    get = told.get
    prepare = get("time/prepare_minibatch")
    if prepare is not None:  # scoring for the KL penalty is done inside
        prepare = max(0.0, prepare - get("time/compute_kl_penalty", 0.0))
    parts: list[tuple[PhaseName, float | None]] = [
        ("generate", get("time/sampling", get("time/sample"))),
        ("update", get("time/train_step", get("time/train", get("time/step")))),
        ("ref", get("time/compute_kl_penalty")),
        ("eval", get("time/run_evals", _sum(get("time/evals"), get("time/infrequent_evals")))),
        (
            "checkpoint" if saved else "weight_sync",
            get("time/save_checkpoint_and_get_sampling_client", get("time/save_checkpoint")),
        ),
        (
            "other",
            _sum(
                prepare if prepare is not None else get("time/assemble_training_data"),
                get("time/compute_kl_sample_train"),
                get("time/get_batch"),
            ),
        ),
    ]
    parts.extend((name, told[f"phase/{name}"]) for name in _OWN if f"phase/{name}" in told)
    phases: dict[PhaseName, float] = {
        name: value for name, value in parts if value is not None and value >= SHORTEST_S
    }
    if duration is not None and sum(phases.values()) > duration * 1.001:
        return {}  # they overlap after all
    return phases


_OWN: tuple[PhaseName, ...] = (
    "generate",
    "reward",
    "old_logprob",
    "ref",
    "update",
    "weight_sync",
    "eval",
    "checkpoint",
)


def _sum(*parts: float | None) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None
