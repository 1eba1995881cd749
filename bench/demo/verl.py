"""The veRL run: a console log as Ray passes it on, up to the loss of its cluster."""

import math
import random
from collections.abc import Sequence
from pathlib import Path

from .shapes import wobble

MARK = "reconstructed from published totals"
MODEL = "Qwen/Qwen3-4B-Instruct-2507"
STEPS, TOTAL, CAP, ROWS, PROMPT, GPUS = 35, 94, 2048, 1024, 191, 8
FIRST_LENGTH, LAST_LENGTH, MEAN_LENGTH = 549.0, 1376.0, 684.0
FIRST_S, LAST_S, MEAN_S = 76.0, 237.0, 119.0
PEAK_FLOPS = 2.25e15
SHARES = {"gen": 0.219, "old_log_prob": 0.089, "ref": 0.059, "update_actor": 0.62, "update_weights": 0.013}


def hockey_stick(first: float, last: float, mean: float) -> list[float]:
    """first + (last - first) * x ** p over the steps, p chosen so that the mean is as published."""

    def curve(power: float) -> list[float]:
        return [first + (last - first) * (i / (STEPS - 1)) ** power for i in range(STEPS)]

    low, high = 0.1, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(curve(middle)) / STEPS > mean else (low, middle)
    return curve(low)


def noisy(rng: random.Random, curve: Sequence[float], sd: float, mean: float) -> list[float]:
    """The curve with noise that leaves its ends and its mean where they are."""
    factors = wobble(rng, len(curve), sd, 0.3)
    inner = [v * f for v, f in zip(curve[1:-1], factors[1:-1], strict=True)]
    wanted = mean * len(curve) - curve[0] - curve[-1]
    return [curve[0], *(v * wanted / sum(inner) for v in inner), curve[-1]]


def verl_lines(seed: int) -> list[str]:
    """The console log of the veRL run, as Ray passes it on, up to the loss of its cluster."""
    rng = random.Random(seed)
    lengths = noisy(rng, hockey_stick(FIRST_LENGTH, LAST_LENGTH, MEAN_LENGTH), 0.02, MEAN_LENGTH)
    seconds = noisy(rng, hockey_stick(FIRST_S, LAST_S, MEAN_S), 0.03, MEAN_S)
    prefix = "\x1b[36m(TaskRunner pid=41277)\x1b[0m "
    lines = [f"# {MARK}: GRPO on MATH, veRL 0.8, 8 x NVIDIA B200"]
    lines += [prefix + line for line in verl_config().splitlines()]
    lines.append(prefix + "Size of train dataloader: 94, Size of val dataloader: 1")
    lines.append(prefix + "Total training steps: 94")
    lines.append(prefix + f"step:0 - val-core/math500/acc/mean@1:{0.612} - timing_s/testing:5.02")
    lines.append(prefix + "\rTraining Progress:   0%|          | 0/94 [00:00<?, ?it/s]")
    elapsed = 0.0
    for index, (length, step_s) in enumerate(zip(lengths, seconds, strict=True), start=1):
        row = verl_row(rng, index, length, step_s)
        elapsed += step_s + (row.get("timing_s/testing") or 0.0)
        lines.append(prefix + f"step:{index} - " + " - ".join(f"{k}:{v!r}" for k, v in row.items()))
        lines.append(prefix + "\r" + progress_bar(index, elapsed, step_s))
    lines += crash_lines()
    return lines


def verl_row(rng: random.Random, index: int, length: float, step_s: float) -> dict[str, float]:
    """The metrics of one step."""
    done = index / TOTAL
    share = length / CAP
    clip = 0.44 * (max(0.0, share - 0.22) / (LAST_LENGTH / CAP - 0.22)) ** 1.5
    clipped = round(clip * ROWS) / ROWS
    tokens = round((length + PROMPT) * ROWS)
    update_s = step_s * SHARES["update_actor"]
    flops = 6 * 4.41e9 * tokens + 6 * ROWS * (length + PROMPT) ** 2 * 128 * 32 * 36
    reward = 0.80 - 0.20 * math.exp(-12 * done) + rng.gauss(0.0, 0.008)
    row: dict[str, float] = {
        "actor/entropy": round(0.33 + 0.25 * max(0.0, done - 0.2) + rng.gauss(0.0, 0.005), 6),
        "actor/kl_loss": round(0.0004 + 0.02 * done**2 + abs(rng.gauss(0.0, 1e-4)), 8),
        "actor/kl_coef": 0.001,
        "actor/pg_loss": round(rng.gauss(0.0, 0.004), 8),
        "actor/pg_clipfrac": round(abs(rng.gauss(8e-4, 3e-4)), 8),
        "actor/ppo_kl": round(abs(rng.gauss(2e-4, 8e-5)), 8),
        "actor/grad_norm": round(0.11 + abs(rng.gauss(0.0, 0.015)), 6),
        "actor/lr": 1e-05,
        "perf/mfu/actor": round(flops / (update_s * GPUS * PEAK_FLOPS), 8),
        "critic/score/mean": round(reward, 6),
        "critic/score/max": 1.0,
        "critic/score/min": 0.0,
        "critic/rewards/mean": round(reward, 6),
        "response_length/mean": round(length * ROWS) / ROWS,
        "response_length/max": float(CAP),
        "response_length/min": float(round(length * 0.14)),
        "response_length/clip_ratio": clipped,
        "prompt_length/mean": float(PROMPT),
        "prompt_length/max": 847.0,
        "prompt_length/min": 47.0,
        "prompt_length/clip_ratio": 0.0,
        "training/global_step": index,
        "training/epoch": 0,
    }
    row |= {f"timing_s/{name}": round(step_s * part, 6) for name, part in SHARES.items()}
    row["timing_s/step"] = round(step_s, 6)
    row["perf/total_num_tokens"] = tokens
    row["perf/time_per_step"] = round(step_s, 6)
    row["perf/throughput"] = round(tokens / (step_s * GPUS), 6)
    if index % 5 == 0:
        row["val-core/math500/acc/mean@1"] = round(0.792 - 0.18 * math.exp(-index / 8), 4)
        row["timing_s/testing"] = round(5.0 * (length / FIRST_LENGTH) ** 0.5, 6)
    return row


def progress_bar(step: int, elapsed_s: float, step_s: float) -> str:
    """A tqdm line."""

    def clock(seconds: float) -> str:
        minutes, s = divmod(round(seconds), 60)
        h, m = divmod(minutes, 60)
        return f"{h}:{m:02d}:{s:02d}" if h else f"{m:02d}:{s:02d}"

    left = clock(step_s * (TOTAL - step))
    bar = "#" * round(10 * step / TOTAL)
    percent = 100 * step // TOTAL
    times = f"[{clock(elapsed_s)}<{left}, {step_s:.2f}s/it]"
    return f"Training Progress: {percent:3d}%|{bar:<10}| {step}/{TOTAL} {times}"


def verl_config() -> str:
    """The resolved configuration, as the trainer prints it: the part that matters."""
    return "\n".join(
        (
            "{'actor_rollout_ref': {'actor': {'optim': {'lr': 1e-05},",
            "                                 'ppo_epochs': 1,",
            "                                 'ppo_mini_batch_size': 64,",
            "                                 'strategy': 'fsdp2',",
            "                                 'use_kl_loss': True},",
            "                       'model': {'enable_gradient_checkpointing': True,",
            "                                 'lora_alpha': 32,",
            "                                 'lora_rank': 32,",
            f"                                 'path': '{MODEL}'}},",
            "                       'rollout': {'n': 8, 'name': 'vllm', 'tensor_model_parallel_size': 1}},",
            " 'algorithm': {'adv_estimator': 'grpo', 'use_kl_in_reward': False},",
            " 'data': {'max_prompt_length': 1024,",
            "          'max_response_length': 2048,",
            "          'train_batch_size': 128},",
            " 'trainer': {'experiment_name': 'math-verl',",
            "             'n_gpus_per_node': 8,",
            "             'nnodes': 1,",
            "             'project_name': 'rltop-demo',",
            "             'save_freq': -1,",
            "             'test_freq': 5,",
            "             'total_epochs': 1,",
            "             'total_training_steps': 94,",
            "             'val_before_train': True}}",
        )
    )


def crash_lines() -> list[str]:
    """What a driver prints when its cluster goes away."""
    return [
        "\x1b[33m(raylet)\x1b[0m The node with node id: 4be1 and address: 10.0.0.4 has been marked dead"
        " because the detector has missed too many heartbeats from it.",
        "Error executing job with overrides: ['data.train_batch_size=128', 'actor_rollout_ref.rollout.n=8']",
        "Traceback (most recent call last):",
        '  File "/opt/verl/trainer/main_ppo.py", line 98, in run_ppo',
        "    ray.get(runner.run.remote(config))",
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
    ]


def write_verl(folder: Path, seed: int) -> None:
    """A console log."""
    place = folder / "math-verl"
    place.mkdir(parents=True, exist_ok=True)
    (place / "console.log").write_text("\n".join(verl_lines(seed)) + "\n")
