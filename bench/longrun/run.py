"""The numbers of a long veRL run, always the same. Its one rule: values have the digits that trainers log."""

import math
import random
from collections.abc import Iterator

FAMILIES = {
    "actor": "entropy kl_loss kl_coef pg_loss pg_clipfrac ppo_kl pg_clipfrac_lower grad_norm lr",
    "perf": "mfu/actor mfu/actor_infer max_memory_allocated_gb max_memory_reserved_gb cpu_memory_used_gb"
    " total_num_tokens time_per_step throughput",
    "critic": "score/mean score/max score/min rewards/mean rewards/max rewards/min advantages/mean"
    " advantages/max advantages/min returns/mean returns/max returns/min",
    "response_length": "mean max min clip_ratio",
    "response_length_non_aborted": "mean max min",
    "response": "aborted_ratio",
    "prompt_length": "mean max min clip_ratio",
    "timing_s": "generate_sequences reshard gen reward old_log_prob ref adv update_actor step stop_profile",
    "timing_per_token_ms": "gen ref adv update_actor",
    "global_seqlen": "min max mean",
    "training": "global_step epoch",
}
KEYS = [f"{family}/{name}" for family, names in FAMILIES.items() for name in names.split()]
ROWS, CAP, GPUS, SHOWN_EVERY = 1024, 2048, 8, 50
TIMES = {"gen": 0.42, "reward": 0.01, "old_log_prob": 0.09, "ref": 0.08, "adv": 0.01, "update_actor": 0.38}


def config(steps: int) -> dict[str, object]:
    """What such a run is configured with."""
    return {
        "actor_rollout_ref": {
            "model": {"path": "Qwen/Qwen2.5-7B-Instruct"},
            "actor": {"optim": {"lr": 1e-6}, "ppo_mini_batch_size": 256, "use_kl_loss": True},
            "rollout": {"name": "vllm", "n": 8, "temperature": 1.0, "tensor_model_parallel_size": 2},
        },
        "data": {"train_batch_size": 128, "max_prompt_length": 512, "max_response_length": CAP},
        "trainer": {"n_gpus_per_node": GPUS, "nnodes": 1, "total_training_steps": steps},
        "algorithm": {"adv_estimator": "grpo"},
    }


def rows(steps: int) -> Iterator[dict[str, float]]:
    """60 metrics a step, and a validation score every 50 steps."""
    rng = random.Random(7)
    for step in range(1, steps + 1):
        done = 1 - math.exp(-4 * step / steps)
        row = {key: done * (1 + index) * 0.1 + rng.gauss(0, 0.05) for index, key in enumerate(KEYS)}
        length, seconds = 600 + 500 * done + rng.gauss(0, 12), 60 + 40 * done + rng.gauss(0, 2)
        row["response_length/mean"], row["response_length/max"] = length, float(CAP)
        row["response_length/clip_ratio"] = round(20 + 60 * done) / ROWS
        row["prompt_length/mean"] = 190.25
        row["critic/score/mean"] = row["critic/rewards/mean"] = 0.4 + 0.4 * done + rng.gauss(0, 0.01)
        row["actor/kl_loss"], row["actor/lr"] = 0.001 + 0.02 * done, 1e-6
        row["perf/mfu/actor"] = 0.31 + rng.gauss(0, 0.005)
        row["perf/total_num_tokens"] = round((length + 190.25) * ROWS)
        row["perf/time_per_step"] = row["timing_s/step"] = seconds
        row["perf/throughput"] = row["perf/total_num_tokens"] / (seconds * GPUS)
        row |= {f"timing_s/{name}": seconds * share for name, share in TIMES.items()}
        row["training/global_step"], row["training/epoch"] = step, step // 29
        if step % SHOWN_EVERY == 0:
            row["val-core/openai/gsm8k/reward/mean@1"] = 0.5 + 0.4 * done
        yield row
