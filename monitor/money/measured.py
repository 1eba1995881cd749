"""A finished run as the inputs of an estimate of the next one. Pure."""

import statistics

from ...models.run import RunInfo
from ..history import History
from ..state import RunState


def measured_inputs(state: RunState, info: RunInfo) -> dict[str, object]:
    """What the run was and did, by the names of EstimateInputs; what it does not tell is left out.

    `response_tokens` and `growth` are chosen so that a planned run takes the tokens that this one took: the
    mean length is kept, and its first and last tenth give the growth.
    """
    history, steps = state.history, state.steps_done
    values: dict[str, object | None] = {
        "model": info.model,
        "steps": info.total_steps or steps or None,
        "groups": info.groups,
        "group_size": info.group_size,
        "max_tokens": info.max_tokens,
        "gpus": info.gpus or None,
        "gpu_type": info.gpu_type,
        "lora_rank": info.lora_rank,
        "reference_pass": info.reference_pass,
        "mfu": _median(history, "mfu_whole_step"),
        "eval_every": info.eval_every,
        "eval_problems": _eval_problems(history),
        **_shape(history),
    }
    episodes = _median(history, "episodes")
    if episodes and info.groups is None and info.group_size:
        values["groups"] = max(1, round(episodes / info.group_size))
    elif episodes and info.group_size is None and info.groups:
        values["group_size"] = max(1, round(episodes / info.groups))
    return {name: value for name, value in values.items() if value is not None}


def _shape(history: History) -> dict[str, object | None]:
    """Lengths and turns of an episode."""
    lengths = [value for _, value in history.series("response_length_mean")]
    if not lengths:
        return {}
    tenth = max(1, len(lengths) // 10)
    first, last = statistics.fmean(lengths[:tenth]), statistics.fmean(lengths[-tenth:])
    growth = last / first if first > 0 and last > 0 else 1.0
    episodes, turns = _total(history, "episodes"), _total(history, "turns")
    per_episode = max(1, round(turns / episodes)) if episodes and turns else 1
    prefill = _total(history, "prefill_tokens") + _total(history, "prefill_cached_tokens")
    reply, prompt = statistics.fmean(lengths), _median(history, "prompt_length_mean")
    if prefill and episodes:
        # Turn k prefills the prompt and the k - 1 replies before it; what is not replies is the prompt.
        prompt = max(0.0, prefill / episodes / per_episode - (per_episode - 1) / 2 * reply)
    return {
        "response_tokens": reply * 2 / (1 + growth),
        "growth": growth,
        "prompt_tokens": prompt,
        "turns": per_episode,
    }


def _eval_problems(history: History) -> int | None:
    """Problems of one evaluation, all evaluators of a step together."""
    by_step: dict[tuple[int, int], float] = {}
    for one in history.evals:
        if one.episodes is not None:
            key = one.step, one.attempt
            by_step[key] = by_step.get(key, 0.0) + one.episodes
    return round(statistics.median(by_step.values())) or None if by_step else None


def _total(history: History, name: str) -> float:
    return sum(value for _, value in history.series(name))


def _median(history: History, name: str) -> float | None:
    values = [value for _, value in history.series(name)]
    return statistics.median(values) if values else None
