"""The Tinker runs: metrics.jsonl and config.json as the cookbook of the time wrote them."""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .shapes import apportion, wobble

MARK = "reconstructed from published totals"
MODEL = "Qwen/Qwen3-4B-Instruct-2507"
GROUP_SIZE = 8


@dataclass(frozen=True)
class TinkerRun:
    """The published totals of a Tinker run. Tokens are whole-run sums."""

    name: str
    recipe: str
    groups: int
    max_tokens: int
    prompts: int
    """Problems in the one epoch: the last batch is smaller."""
    action_tokens: int
    observation_tokens: int
    evals: int
    eval_every: int
    eval_problems: int
    eval_action_tokens: int
    eval_observation_tokens: int
    wall_s: float
    """Published wall time of the whole run."""
    reward: tuple[float, float]
    """First and last mean reward."""
    score: Sequence[float]
    """Eval accuracy, first to last."""

    @property
    def steps(self) -> int:
        return math.ceil(self.prompts / self.groups)


GSM8K = TinkerRun(
    name="gsm8k-tinker",
    recipe="math_rl",
    groups=128,
    max_tokens=1024,
    prompts=7473,
    action_tokens=19_300_000,
    observation_tokens=10_700_000,
    evals=12,
    eval_every=5,
    eval_problems=1319,
    eval_action_tokens=5_400_000,
    eval_observation_tokens=2_820_000,
    wall_s=33 * 60,
    reward=(0.72, 0.95),
    score=(0.842, 0.868, 0.885, 0.894, 0.899, 0.904, 0.906, 0.909, 0.911, 0.910, 0.914, 0.913),
)
MATH = TinkerRun(
    name="math-tinker",
    recipe="math_rl",
    groups=128,
    max_tokens=2048,
    prompts=12_000,
    action_tokens=68_500_000,
    observation_tokens=18_400_000,
    evals=19,
    eval_every=5,
    eval_problems=500,
    eval_action_tokens=6_600_000,
    eval_observation_tokens=1_810_000,
    wall_s=127 * 60,
    reward=(0.58, 0.82),
    score=(
        *(0.612, 0.702, 0.756, 0.792, 0.823, 0.846, 0.861, 0.853, 0.848, 0.842),
        *(0.836, 0.829, 0.824, 0.817, 0.811, 0.806, 0.800, 0.794, 0.789),
    ),
)


def tinker_rows(run: TinkerRun, seed: int) -> list[dict[str, float]]:
    """The rows of metrics.jsonl."""
    rng = random.Random(seed)
    steps = run.steps
    groups = [run.groups] * (steps - 1) + [run.prompts - run.groups * (steps - 1)]
    episodes = [count * GROUP_SIZE for count in groups]
    lengths = wobble(rng, steps, 0.022)
    prompts = wobble(rng, steps, 0.012, 0.0)
    action = apportion(run.action_tokens, [e * f for e, f in zip(episodes, lengths, strict=True)])
    observed = apportion(run.observation_tokens, [e * f for e, f in zip(episodes, prompts, strict=True)])
    eval_action = apportion(run.eval_action_tokens, wobble(rng, run.evals, 0.01))
    eval_observed = apportion(run.eval_observation_tokens, [1.0] * run.evals)
    pace = wobble(rng, steps, 0.05, 0.3)
    rows: list[dict[str, float]] = []
    for index in range(steps):
        row: dict[str, float] = {
            "step": index,
            "progress/batch": index,
            "optim/lr": 4.9e-4,
            "progress/done_frac": (index + 1) / steps,
        }
        eval_work = 0.0
        if index % run.eval_every == 0 and index // run.eval_every < run.evals:
            k = index // run.eval_every
            row |= scope("test/env/all", run.eval_problems, eval_action[k], eval_observed[k], run.score[k])
            eval_work = 0.4 * pace[index]
            row["time/run_evals"] = eval_work
        done = index / (steps - 1)
        reward = run.reward[1] - (run.reward[1] - run.reward[0]) * math.exp(-5 * done)
        reward = min(0.99, reward + rng.gauss(0.0, 0.008))
        row |= scope("env/all", episodes[index], action[index], observed[index], reward)
        mixed = round((0.55 * math.exp(-2 * done) + 0.12) * groups[index]) / groups[index]
        row["env/all/by_group/frac_mixed"] = mixed
        row["env/all/by_group/frac_all_good"] = round((1 - mixed) * 0.9, 6)
        row["env/all/by_group/frac_all_bad"] = round((1 - mixed) * 0.1, 6)
        row["optim/kl_sample_train_v1"] = round(abs(rng.gauss(8e-4, 2e-4)), 8)
        row["optim/kl_sample_train_v2"] = round(abs(rng.gauss(9e-4, 2e-4)), 8)
        row["optim/entropy"] = round(0.31 - 0.09 * done + rng.gauss(0.0, 0.006), 6)
        work = pace[index] * episodes[index] / (run.groups * GROUP_SIZE)
        row["time/train"] = 0.22 * work
        row["time/assemble_training_data"] = 0.005 * work
        row["time/save_checkpoint"] = 0.04
        row["time/total"] = work + eval_work + 0.04
        rows.append(row)
    scale = run.wall_s / sum(row["time/total"] for row in rows)
    for row in rows:
        row |= {key: round(value * scale, 3) for key, value in row.items() if key.startswith("time/")}
    return rows


def scope(name: str, episodes: int, action: int, observed: int, reward: float) -> dict[str, float]:
    """The keys of one environment scope."""
    return {
        f"{name}/ac_tokens_per_turn": action / episodes,
        f"{name}/ob_tokens_per_turn": observed / episodes,
        f"{name}/turns_per_episode": 1.0,
        f"{name}/total_episodes": episodes,
        f"{name}/total_turns": episodes,
        f"{name}/total_ac_tokens": action,
        f"{name}/total_ob_tokens": observed,
        f"{name}/reward/total": round(reward, 6),
        f"{name}/correct": round(reward, 6),
    }


def tinker_config(run: TinkerRun) -> dict[str, object]:
    """config.json, as the cookbook of the time wrote it."""
    return {
        "learning_rate": 4.9e-4,
        "dataset_builder": {
            "batch_size": run.groups,
            "group_size": GROUP_SIZE,
            "model_name_for_tokenizer": MODEL,
            "renderer_name": "qwen3_instruct",
        },
        "model_name": MODEL,
        "max_tokens": run.max_tokens,
        "log_path": run.name,
        "wandb_name": f"{run.name} ({MARK})",
        "eval_every": run.eval_every,
        "save_every": 20,
        "kl_penalty_coef": 0.0,
        "loss_fn": "importance_sampling",
        "num_substeps": 1,
        "lora_rank": 32,
        "temperature": 1.0,
        "remove_constant_reward_groups": False,
    }


def write_tinker(folder: Path, run: TinkerRun, seed: int) -> None:
    """A run folder as the cookbook leaves it."""
    place = folder / run.name
    place.mkdir(parents=True, exist_ok=True)
    rows = tinker_rows(run, seed)
    (place / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "config.json").write_text(json.dumps(tinker_config(run), indent=2) + "\n")
