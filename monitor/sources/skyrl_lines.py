"""What SkyRL's trainer says of a step where its numbers go to a tracker: times of the parts, mean reward and
length, and the state of the policy in the end.

Its one rule: everything between two beginnings of a step is of that step, under the names that a tracker has.
"""

import re

from .pyrepr import number_of, numbers, read_dict

BEGUN = "Started: 'step'"
TIMED = re.compile(r"Finished: '(\w{1,60})', time cost: (\d{1,9}(?:\.\d{1,6})?)s")
PAIR = re.compile(
    r"\b((?:reward/|batch_)\w{1,60}|avg_final_rewards|avg_response_length): (-?[\d.eE+-]{1,30})"
)
STATE = re.compile(r"- (\{'(?:final_loss|policy_loss)': )")
TOTAL = re.compile(r"\bTotal steps: (\d{1,12})\b")
PARTS = re.compile(
    r"Finished: '(?:fwd_logprobs_values_reward|convert_to_training_input|"
    r"train_critic_and_policy|policy_train)'"
)
"""Which no other trainer times."""


class TrainerLines:
    """Gathers the lines of one step after the other."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        """Of the present step, by the names of SkyRL's trackers."""
        self.over = False
        """Whether the trainer has said that the step is finished."""

    def begin(self) -> None:
        """The next step begins."""
        self.values, self.over = {}, False

    def take(self, words: str) -> None:
        """Take in what one line says."""
        if (timed := TIMED.search(words)) is not None:
            self.values[f"timing/{timed[1]}"] = float(timed[2])
            self.over = self.over or timed[1] == "step"
        elif (state := STATE.search(words)) is not None and (read := read_dict(words, state.start(1))):
            self.values.update({f"policy/{key}": value for key, value in numbers(read[0]).items()})
        elif ": " in words:
            for name, text in PAIR.findall(words):
                number = number_of(text)
                if number is not None:
                    self.values[name] = number

    def counts(self) -> dict[str, float]:
        """Lengths and tokens of the step."""
        told: dict[str, float] = {}
        length, samples = self.values.get("avg_response_length"), self.values.get("batch_num_seq")
        if length is not None:
            told["response_length_mean"] = length
        if samples is not None and samples > 0:
            told["episodes"] = samples
        if length is not None and samples is not None and samples > 0:
            told["sampled_tokens"] = length * samples
        if "reward/avg_raw_reward" not in self.values and "avg_final_rewards" in self.values:
            told["reward_mean"] = self.values["avg_final_rewards"]
        return told
