"""Which raw key of which framework is which canonical quantity. Data only: a framework is a table.

One rule: the first key of a table that a log has a finite number for wins, so a table lists its most
truthful source of a quantity first. What is in no table stays available under its own name.
"""

from collections.abc import Iterable
from dataclasses import replace

from ..tells import Tells
from .keymap_others import AREAL, ROLL
from .keytable import Key, KeyMap


def tells_of(keymap: KeyMap, **own: str) -> Tells:
    """What a framework's logs tell by its keys; `own` says what is had in another way."""
    words: dict[str, str] = {"steps": "the row's step"}
    for quantity, names in QUANTITY_FIELDS.items():
        keys = [key.name for name in names for key in keymap.fields if key.field == name]
        if keys:
            words[quantity] = f"`{keys[0]}`"
    return Tells(**{**words, **own})


QUANTITY_FIELDS = {
    "tokens": ("sampled_tokens", "total_tokens"),
    "length": ("response_length_mean",),
    "clip": ("clip_ratio",),
    "reward": ("reward_mean",),
    "time": ("duration_s",),
}

SLIME = KeyMap(
    framework="slime",
    fields=(
        # Effective lengths leave out what tools wrote; the older keys count it in.
        Key("rollout/response_len/mean", "response_length_mean"),
        Key("rollout/response_lengths", "response_length_mean"),
        Key("rollout/response_len/max", "response_length_max"),
        Key("rollout/response_len/min", "response_length_min"),
        Key("rollout/truncated_ratio", "clip_ratio"),
        Key("rollout/truncated", "clip_ratio"),
        # rollout/rewards is centred by the group baseline and always near zero.
        Key("rollout/raw_reward", "reward_mean"),
        Key("train/kl_loss", "kl"),
        Key("train/ppo_kl", "kl"),
        Key("train/entropy_loss", "entropy"),
        Key("train/grad_norm", "grad_norm"),
        Key("train/lr-pg_0", "lr"),
        Key("train/loss", "loss"),
        Key("train/pg_clipfrac", "pg_clip_fraction"),
        Key("perf/actor_train_mfu", "mfu_logged"),
        # The trainer's waiting and training: rollout, weight push and saves are inside.
        Key("perf/step_time", "duration_s"),
        Key("perf/total_train_time", "duration_s"),
    ),
    phases=(
        ("perf/rollout_time", "generate"),
        ("perf/log_probs_time", "old_logprob"),
        ("perf/ref_log_probs_time", "ref"),
        ("perf/actor_train_time", "update"),
        ("perf/critic_train_time", "update_critic"),
        ("perf/update_weights_time", "weight_sync"),
        ("perf/save_model_time", "checkpoint"),
        ("perf/data_preprocess_time", "other"),
        ("perf/sleep_time", "other"),
        ("perf/wake_up_time", "other"),
    ),
    eval_prefixes=("eval/",),
    signs=("rollout/response_len/", "rollout/raw_reward", "rollout/response_lengths", "train/lr-pg_"),
    clip_why="share of samples that the rollout engine marked as truncated",
)

TRL = KeyMap(
    framework="trl",
    fields=(
        Key("completions/mean_length", "response_length_mean"),
        Key("completion_length", "response_length_mean"),
        # PPOTrainer up to 0.11.
        Key("tokens/responses_len_mean", "response_length_mean"),
        Key("tokens/queries_len_mean", "prompt_length_mean"),
        Key("completions/max_length", "response_length_max"),
        Key("completions/min_length", "response_length_min"),
        Key("completions/clipped_ratio", "clip_ratio"),
        Key("clip_ratio/region_mean", "pg_clip_fraction"),
        Key("clip_ratio", "pg_clip_fraction"),
        Key("reward", "reward_mean"),
        Key("rewards/mean", "reward_mean"),
        # PPO and RLOO: what the reward model gave, before the penalty for divergence.
        Key("objective/scores", "reward_mean"),
        Key("env/reward_mean", "reward_mean"),
        Key("ppo/mean_scores", "reward_mean"),
        Key("kl", "kl"),
        Key("objective/kl", "kl"),
        Key("entropy", "entropy"),
        Key("entropy/mean", "entropy"),
        Key("policy/entropy_avg", "entropy"),
        Key("ppo/policy/entropy", "entropy"),
        Key("policy/clipfrac_avg", "pg_clip_fraction"),
        Key("ppo/policy/clipfrac", "pg_clip_fraction"),
        Key("grad_norm", "grad_norm"),
        Key("learning_rate", "lr"),
        Key("lr", "lr"),
        Key("ppo/learning_rate", "lr"),
        Key("loss", "loss"),
        Key("loss/policy_avg", "loss"),
        Key("ppo/loss/total", "loss"),
        Key("frac_reward_zero_std", "zero_variance_groups"),
        Key("step_time", "duration_s"),
    ),
    eval_prefixes=("eval_",),
    signs=(
        "completions/",
        "frac_reward_zero_std",
        "sampling/",
        "rewards/",
        "num_tokens",
        "step_time",
        "mean_token_",
        "objective/",
        "ppo/loss/",
        "ppo/policy/",
        "tokens/responses_",
        "tokens/queries_",
    ),
    clip_why="share of completions whose last token is neither end nor padding",
)

VERL = KeyMap(
    framework="verl",
    fields=(
        Key("response_length/mean", "response_length_mean"),
        Key("response_length/max", "response_length_max"),
        Key("response_length/min", "response_length_min"),
        Key("response_length/clip_ratio", "clip_ratio"),
        Key("prompt_length/mean", "prompt_length_mean"),
        Key("critic/score/mean", "reward_mean"),
        Key("critic/rewards/mean", "reward_mean"),
        Key("actor/kl_loss", "kl"),
        Key("actor/ppo_kl", "kl"),
        Key("actor/entropy", "entropy"),
        Key("actor/entropy_loss", "entropy"),
        Key("actor/grad_norm", "grad_norm"),
        Key("actor/lr", "lr"),
        Key("actor/pg_loss", "loss"),
        Key("actor/pg_clipfrac", "pg_clip_fraction"),
        Key("perf/mfu/actor", "mfu_logged"),
        Key("perf/total_num_tokens", "total_tokens"),
        Key("perf/time_per_step", "duration_s"),
        Key("timing_s/step", "duration_s"),
    ),
    phases=(
        ("timing_s/gen", "generate"),
        ("timing_s/old_log_prob", "old_logprob"),
        ("timing_s/ref", "ref"),
        ("timing_s/reward", "reward"),
        ("timing_s/update_actor", "update"),
        ("timing_s/update_critic", "update_critic"),
        ("timing_s/update_weights", "weight_sync"),
        ("timing_s/testing", "eval"),
        ("timing_s/save_checkpoint", "checkpoint"),
    ),
    eval_prefixes=("val-core/", "val-aux/", "val/"),
    signs=("timing_s/", "timing_per_token_ms/", "response_length/", "critic/", "actor/", "global_seqlen/"),
    clip_why="share of responses as long as the batch is wide, which need not be the cap",
    clip_reliable=False,
)

NEMO_RL = KeyMap(
    framework="nemo-rl",
    fields=(
        Key("train/mean_gen_tokens_per_sample", "response_length_mean"),
        Key("train/max_gen_tokens_per_sample", "response_length_max"),
        Key("train/mean_prompt_length", "prompt_length_mean"),
        Key("train/truncation_rate", "clip_ratio"),
        Key("train/reward", "reward_mean"),
        Key("train/gen_kl_error", "kl"),
        Key("train/grad_norm", "grad_norm"),
        Key("train/lr", "lr"),
        Key("train/loss", "loss"),
        Key("train/total_num_tokens", "total_tokens"),
        Key("performance/tokens_per_sec", "tokens_per_s"),
        Key("performance/train_fp_utilization", "mfu_logged"),
        Key("timing/train/total_step_time", "duration_s"),
    ),
    phases=(
        ("timing/train/generation", "generate"),
        ("timing/train/policy_training", "update"),
    ),
    eval_prefixes=("validation/",),
    signs=("timing/train/", "performance/", "validation/"),
    clip_why="share of samples that hit the generation limit",
)

PRIME_RL = KeyMap(
    framework="prime-rl",
    fields=(
        Key("train/agg/all/num_output_tokens/mean", "response_length_mean"),
        Key("train/agg/effective/num_output_tokens/mean", "response_length_mean"),
        Key("train/agg/all/num_output_tokens/max", "response_length_max"),
        Key("train/agg/effective/num_output_tokens/max", "response_length_max"),
        Key("train/agg/all/num_input_tokens/mean", "prompt_length_mean"),
        Key("train/agg/effective/num_input_tokens/mean", "prompt_length_mean"),
        Key("train/agg/all/is_truncated/mean", "clip_ratio"),
        Key("train/agg/effective/is_truncated/mean", "clip_ratio"),
        Key("train/agg/all/reward/mean", "reward_mean"),
        Key("train/agg/effective/reward/mean", "reward_mean"),
        Key("reward/mean", "reward_mean"),
        Key("mismatch_kl/all/mean", "kl"),
        Key("entropy/all/mean", "entropy"),
        Key("optim/grad_norm", "grad_norm"),
        Key("optim/lr", "lr"),
        Key("loss/mean", "loss"),
        Key("perf/mfu", "mfu_logged", 0.01),
        Key("time/step", "duration_s"),
    ),
    phases=(
        ("time/wait_for_batch", "generate"),
        ("time/forward_backward", "update"),
        ("time/broadcast_weights", "weight_sync"),
        ("time/save_ckpt", "checkpoint"),
    ),
    eval_prefixes=("eval/",),
    signs=(
        "train/agg/",
        "mismatch_kl/",
        "off_policy/",
        "optim/",
        "perf/throughput_per_gpu",
        "time/wait_for_batch",
    ),
    clip_why="share of rollouts that the orchestrator saw cut off",
)

OPENRLHF = KeyMap(
    framework="openrlhf",
    fields=(
        Key("rollout/response_length_mean", "response_length_mean"),
        Key("response_length", "response_length_mean"),
        Key("rollout/truncated_rate", "clip_ratio"),
        Key("rollout/reward_mean", "reward_mean"),
        Key("reward", "reward_mean"),
        Key("rollout/num_samples", "episodes"),
        Key("kl", "kl"),
        Key("ppo_kl", "kl"),
        Key("entropy_loss", "entropy"),
        Key("actor_grad_norm", "grad_norm"),
        Key("actor_lr", "lr"),
        Key("policy_loss", "loss"),
        Key("ppo_clip_ratio", "pg_clip_fraction"),
        Key("timing/step_total", "duration_s"),
    ),
    phases=(
        ("timing/generation", "generate"),
        ("timing/ppo_train", "update"),
        ("timing/broadcast", "weight_sync"),
    ),
    eval_prefixes=("eval/", "eval_"),
    signs=(
        "rollout/response_length_mean",
        "rollout/reward_mean",
        "ppo_clip_ratio",
        "vllm_kl",
        "actor_grad_norm",
    ),
    clip_why="share of responses that ended at the length limit",
)

SKYRL = KeyMap(
    framework="skyrl",
    fields=(
        # policy/response_length is the padded width, not a length.
        Key("generate/avg_num_tokens", "response_length_mean"),
        Key("generate/max_num_tokens", "response_length_max"),
        Key("generate/min_num_tokens", "response_length_min"),
        Key("reward/avg_raw_reward", "reward_mean"),
        Key("policy/policy_kl", "kl"),
        Key("policy/policy_entropy", "entropy"),
        Key("policy/grad_norm", "grad_norm"),
        Key("policy/raw_grad_norm", "grad_norm"),
        Key("policy/policy_lr", "lr"),
        Key("policy/final_loss", "loss"),
        Key("policy/policy_loss", "loss"),
        Key("policy/loss_metrics/clip_ratio", "pg_clip_fraction"),
        Key("timing/step", "duration_s"),
    ),
    phases=(
        ("timing/generate", "generate"),
        ("timing/fwd_logprobs_values_reward", "old_logprob"),
        ("timing/train_critic_and_policy", "update"),
        ("timing/sync_weights", "weight_sync"),
        ("timing/eval", "eval"),
        ("timing/save_checkpoints", "checkpoint"),
    ),
    eval_prefixes=("eval/",),
    signs=("generate/avg_num_tokens", "policy/policy_", "reward/avg_raw_reward", "timing/fwd_logprobs"),
)

KEYMAPS: tuple[KeyMap, ...] = (VERL, SLIME, TRL, NEMO_RL, PRIME_RL, OPENRLHF, SKYRL, AREAL, ROLL)
TRACKER_KEYMAPS: tuple[KeyMap, ...] = (
    VERL,
    SLIME,
    replace(TRL.under("train/"), eval_prefixes=("eval/",)),
    NEMO_RL,
    PRIME_RL,
    replace(OPENRLHF.under("train/"), eval_prefixes=("eval/",)),
    SKYRL,
    AREAL,
    ROLL,
    TRL,
    OPENRLHF,
)
"""As trackers (TensorBoard, W&B) see the keys."""
ENOUGH_SIGNS = 2
"""So many keys have to bear a framework's sign: one alone is a coincidence."""


def keymap_of(names: Iterable[str], candidates: tuple[KeyMap, ...] = TRACKER_KEYMAPS) -> KeyMap | None:
    """The framework whose own keys are most among `names`; None when no framework has enough of them."""
    names = tuple(names)
    best, most = None, ENOUGH_SIGNS - 1
    for candidate in candidates:
        count = sum(name.startswith(candidate.signs) for name in names)
        if count > most:
            best, most = candidate, count
    return best
