"""Small runs of several kinds, written where a test wants them."""

import json
from collections.abc import Sequence
from pathlib import Path


def tinker_run(folder: Path, steps: int = 4, name: str = "metrics.jsonl") -> Path:
    """A Tinker run folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "step": step,
            "progress/done_frac": (step + 1) / 10,
            "optim/kl_sample_train_v1": 0.001 + step / 1e4,
            "env/all/reward/total": 0.4 + step / 50,
            "env/all/ac_tokens_per_turn": 300.0 + step,
            "env/all/total_ac_tokens": 30_000 + step,
            "env/all/total_ob_tokens": 9_000,
            "env/all/total_episodes": 100,
            "time/total": 30.0 + step / 7,
        }
        for step in range(steps)
    ]
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def verl_console(path: Path, steps: Sequence[int] = range(1, 5), shift: float = 0.0) -> Path:
    """A veRL console; `shift` makes its numbers those of another run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [" - ".join((f"step:{step}", *_metrics(step, shift))) for step in steps]
    path.write_text("python3 -m verl.trainer.main_ppo\n" + "\n".join(lines) + "\n")
    return path


def _metrics(step: int, shift: float) -> list[str]:
    return [
        f"actor/entropy:{0.4 - step / 300 + shift:.6f}",
        f"actor/grad_norm:{0.2 + shift + step / 90:.6f}",
        f"critic/rewards/mean:{0.31 + step / 77 + shift:.6f}",
        f"response_length/mean:{500 + step * 3.7 + 90 * shift:.4f}",
        f"response_length/clip_ratio:{0.01 * step:.4f}",
        f"timing_s/step:{60 + step / 3:.5f}",
        f"perf/total_num_tokens:{200_000 + step * 31}",
        f"perf/throughput:{900 + step}",
    ]
