"""What is known of a run as a whole: facts that sources report piecemeal and the fold merges."""

from typing import Annotated, Literal

from pydantic import BeforeValidator

from .value import Value

Framework = Literal[
    "tinker",
    "verl",
    "slime",
    "trl",
    "nemo-rl",
    "prime-rl",
    "openrlhf",
    "skyrl",
    "areal",
    "roll",
    "unknown",
]
Platform = Literal["tinker", "self-hosted", "unknown"]
Algorithm = Literal["rl", "ppo", "sft", "dpo", "distill"]
"""What decides how tokens are metered: `rl` is critic-free policy gradient (GRPO and its kin)."""
RunStatus = Literal["running", "finished", "stalled", "crashed", "unknown"]
ConfigValue = str | int | float | bool | None


def _countable(value: object) -> object:
    """A number that no float holds exactly counts nothing: it comes from a damaged log, and is unknown."""
    return None if isinstance(value, int) and abs(value) > 2**53 else value


Count = Annotated[int | None, BeforeValidator(_countable)]


class RunInfo(Value):
    """Facts about a run. Every field may be unknown; of two reports the later known one wins.

    A source sends as many of these as it likes, each with only what it has just learnt.
    """

    kind: Literal["run"] = "run"
    framework: Framework | None = None
    framework_version: str | None = None
    """As the log tells it or as its shape proves it, such as `0.6` or `<=0.4.1`."""
    name: str | None = None
    model: str | None = None
    """Hub id with context tier where one is billed, such as `moonshotai/Kimi-K2.6:peft:131072`."""
    teacher_model: str | None = None
    platform: Platform | None = None
    algorithm: Algorithm | None = None
    multi_turn: bool | None = None
    gpus: Count = None
    """GPUs that the run holds and pays for, trainer and rollout together."""
    gpu_type: str | None = None
    """Short name from the GPU table, such as `B200`, or the device name of the log."""
    total_steps: Count = None
    first_step: Count = None
    """Number of the first training step, 0 or 1."""
    max_tokens: Count = None
    """Cap on sampled tokens per response (per turn on Tinker)."""
    max_prompt_tokens: Count = None
    groups: Count = None
    """Prompts (groups) per step."""
    group_size: Count = None
    """Rollouts per prompt."""
    lora_rank: Count = None
    """0 when the log says full fine-tuning; None when it does not say."""
    reference_pass: bool | None = None
    """Whether a reference log-prob pass is paid in each step."""
    activation_checkpointing: bool | None = None
    eval_every: Count = None
    eval_at_start: bool | None = None
    eval_at_end: bool | None = None
    save_every: Count = None
    started_at: float | None = None
    """Unix seconds."""
    session_id: str | None = None
    config: dict[str, ConfigValue] = {}
    """The run's printed or saved configuration, flattened with dots; merged key by key."""
    notes: tuple[str, ...] = ()
    """One-line remarks for the user on how something was inferred, or why it could not be; merged."""

    @property
    def last_step(self) -> int | None:
        """The number of the last step; None when the total is unknown."""
        return last_step_of(self.total_steps, self.first_step)

    def merged(self, later: "RunInfo") -> "RunInfo":
        """These facts, overlaid with what `later` knows."""
        known: dict[str, object] = {
            name: value
            for name in later.model_fields_set - {"config", "notes"}
            if (value := getattr(later, name)) is not None
        }
        if later.config:
            known["config"] = {**self.config, **later.config}
        fresh = tuple(note for note in later.notes if note not in self.notes)
        if fresh:
            known["notes"] = self.notes + fresh
        return self.model_copy(update=known)


def last_step_of(total_steps: int | None, first_step: int | None) -> int | None:
    """The number of the last step of a run that counts from 0, or else from 1 (or a later first one told)."""
    if total_steps is None:
        return None
    return total_steps if first_step else total_steps - 1
