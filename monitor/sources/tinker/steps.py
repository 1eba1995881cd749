"""A Row as Step and Evals in canonical names and units. Pure.

The one rule: a quantity that this row does not tell, and that no documented identity gives, stays None.
"""

from collections.abc import Mapping

from ....models.run import Algorithm
from ....models.step import Eval, Step
from .facts import RunFacts
from .rollouts import Lengths
from .rows import Row
from .walltime import duration_of, is_checkpoint, phases_of

AT_CAP = 0.999
"""A mean length from this share of the cap on means that practically every response was cut."""
NO_LENGTHS = "the log does not count cut responses, and there are no rollout summaries to count them in"
NO_CAP = "max_tokens is not known: no config.json beside the metrics"


def evals_of(row: Row, attempt: int, step: int, at: float | None, seconds: float | None) -> list[Eval]:
    """The evaluations of a row. Evaluators run side by side, so `seconds` (wall) goes to the first."""
    evals: list[Eval] = []
    for name, results in row.evals.items():
        sampled, prompt = results.get("total_ac_tokens"), results.get("total_ob_tokens")
        cached = results.get("total_cached_ob_tokens")
        evals.append(
            Eval(
                step=step,
                attempt=attempt,
                name=name,
                ended_at=at,
                duration_s=None if evals else seconds,
                episodes=results.get("total_episodes"),
                sampled_tokens=sampled,
                prefill_tokens=_less(prompt, cached),
                prefill_cached_tokens=cached,
                response_length_mean=results.get("ac_tokens_per_turn"),
                scores={key: value for key, value in results.items() if _is_score(key)},
            )
        )
    return evals


_NOT_SCORES = frozenset(
    (
        "ac_tokens_per_turn",
        "ob_tokens_per_turn",
        "turns_per_episode",
        "total_episodes",
        "total_turns",
        "total_ac_tokens",
        "total_ob_tokens",
        "total_cached_ob_tokens",
    )
)


def _is_score(name: str) -> bool:
    """Whether a result says how good the model is. Groups of one are neither mixed nor anything else."""
    return name not in _NOT_SCORES and not name.startswith("by_group/")


def eval_seconds(row: Row) -> float | None:
    """Wall seconds of the evaluations that ran during this row."""
    told = row.told
    if row.eval_s is not None:
        return row.eval_s
    if "time/run_evals" in told:
        return told["time/run_evals"]
    if "time/evals" in told or "time/infrequent_evals" in told:
        return told.get("time/evals", 0.0) + told.get("time/infrequent_evals", 0.0)
    return told.get("time/evaluation_loop/total")


def step_of(
    row: Row,
    step: int,
    attempt: int,
    at: float | None,
    facts: RunFacts,
    algorithm: Algorithm | None,
    lengths: Lengths | None,
    discarded: Mapping[str, float],
) -> Step:
    """The training step of a row; `lengths` are those of its rollouts, where they were found."""
    told = row.told
    get = told.get
    billed = "billed_sampled" in told
    ac, ob, episodes = get("ac"), get("ob"), get("episodes")
    multi_turn = get("turns_per_episode", 1.0) > 1.0
    trained = get("billed_trained", get("num_tokens"))
    bound = False
    if trained is None and ac is not None and ob is not None and episodes is not None:
        # A datum is its whole sequence but for the last token. Turns that extend one another share their
        # prefix, so that over several turns this is the most that can have been trained on.
        trained = ob + ac - episodes
        bound = multi_turn
    cached = get("billed_cached", get("ob_cached"))
    kl = get("kl_base", get("teacher_kl", get("kl_sample_train")))
    duration = duration_of(told, algorithm)
    clip, reliable, why = (
        _clip(told, lengths, facts) if algorithm in ("rl", "distill") else (None, None, None)
    )
    values: dict[str, float | None] = {
        "duration_s": duration,
        "sampled_tokens": get("billed_sampled", ac),
        "prefill_tokens": get("billed_uncached", _less(ob, get("ob_cached"))),
        "prefill_cached_tokens": cached,
        "trained_tokens": trained,
        "scored_tokens": None if billed else _scored(told, algorithm),
        "logged_usd": get("step_usd"),
        "episodes": get("episodes"),
        "turns": get("turns"),
        "response_length_mean": get("response_length", lengths.mean if lengths else None),
        "response_length_max": lengths.longest if lengths else None,
        "response_length_min": lengths.shortest if lengths else None,
        "prompt_length_mean": get("prompt_length"),
        "clip_ratio": clip,
        "reward_mean": get("reward"),
        "kl": kl,
        "entropy": get("entropy"),
        "grad_norm": get("grad_norm"),
        "lr": get("lr"),
        "loss": get("nll", get("dpo_loss", get("loss"))),
        # A distilled run has no reward: all its groups look alike, and nothing follows from that.
        "zero_variance_groups": None if algorithm == "distill" else _less(1.0, get("frac_mixed")),
        **discarded,
    }
    if "frac_mixed" not in told:
        values["zero_variance_groups"] = None
    return Step.model_validate(
        {
            "step": step,
            "attempt": attempt,
            "ended_at": at,
            "phases": phases_of(told, duration, is_checkpoint(told, step, facts.save_every, algorithm)),
            "trained_upper_bound": bound,
            "clip_reliable": reliable,
            "clip_why": why,
            "raw": row.raw,
            **{name: value for name, value in values.items() if value is not None},
        }
    )


def length_part(
    step: int, attempt: int, told: Mapping[str, float], lengths: Lengths, facts: RunFacts
) -> Step:
    """What rollout summaries add to a step that was given before they were there."""
    clip, reliable, why = _clip(told, lengths, facts)
    return Step(
        step=step,
        attempt=attempt,
        response_length_max=lengths.longest,
        response_length_min=lengths.shortest,
        clip_ratio=clip,
        clip_reliable=reliable,
        clip_why=why,
    )


def _less(whole: float | None, part: float | None) -> float | None:
    """What is left of a count; the whole of it where the part is not told."""
    return whole if whole is None or part is None else max(0.0, whole - part)


def _clip(
    told: Mapping[str, float], lengths: Lengths | None, facts: RunFacts
) -> tuple[float | None, bool, str]:
    """(clip ratio, whether to trust it, why).

    The cookbook's own `max_tokens_reached`, `stop/<reason>`, `context_overflow` and `parse_error` are means
    over the turns that carry the key, 1 whenever it is there at all: no rates, so they are not read.
    """
    cap = facts.max_tokens
    if cap is None:
        return None, False, NO_CAP
    if lengths is not None:
        return lengths.share_at(cap), True, "counted in the rollout summaries: turns as long as max_tokens"
    mean = told.get("response_length")
    if mean is not None and mean >= AT_CAP * cap:
        return 1.0, True, "the mean length equals the cap"
    return None, False, NO_LENGTHS


def _scored(told: Mapping[str, float], algorithm: Algorithm | None) -> float | None:
    """Tokens prefilled to score sequences: by a teacher, a reference model, or again after the update.

    Each pass prefills the whole sequence and samples one token, which is counted in.
    """
    if algorithm == "dpo" and "num_tokens" in told:
        return told["num_tokens"] + 2 * told.get("num_pairs", 0.0)
    passes = ("teacher_kl" in told) + ("kl_base" in told) + ("kl_pre_post" in told)
    if not passes or "ac" not in told or "ob" not in told:
        return None
    return passes * (told["ob"] + told["ac"] + told.get("episodes", 0.0))
