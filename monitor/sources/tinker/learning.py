"""What the metrics rows tell about the run as a whole, as RunInfo with only what is new.

The one rule: a fact is said once, and again only when the rows say otherwise.
"""

from ....models.run import Algorithm, RunInfo
from .facts import RunFacts
from .plan import Plan
from .rows import Row
from .shape import NEWEST, algorithm_of, version_of


class Learnt:
    """What has been learnt of a run from its rows so far."""

    def __init__(self, facts: RunFacts) -> None:
        self.algorithm: Algorithm | None = None
        self.version: str | None = None
        self.evaluated = False
        """An evaluation has been told in a row of its own."""
        self._facts = facts
        self._plan = Plan()
        self._began = False
        self._multi_turn: bool | None = None

    def learn(self, row: Row, step: int) -> list[RunInfo]:
        """What this training row tells that was not known."""
        fresh: dict[str, object] = {}
        algorithm = algorithm_of(row)
        # A row may lack the key that sets a kind of training apart, but none has one too many.
        if algorithm is not None and algorithm != self.algorithm and self.algorithm in (None, "rl"):
            fresh["algorithm"] = self.algorithm = algorithm
        version = version_of(row)
        if version is not None and version != self.version and self.version != NEWEST:
            fresh["framework_version"] = self.version = version
        turns = row.told.get("turns_per_episode")
        if turns and self._multi_turn is not True and (turns > 1) != self._multi_turn:
            fresh["multi_turn"] = self._multi_turn = turns > 1
        if not self._began:
            self._began = True
            fresh.update(self._first(row, step))
        total = self._total(row, step)
        if total is not None and total != self._facts.total_steps:
            fresh["total_steps"] = self._facts.total_steps = total
        return [RunInfo.model_validate(fresh)] if fresh else []

    def _first(self, row: Row, step: int) -> dict[str, object]:
        """What only the first training row can tell: how steps are numbered and when evaluations run."""
        said: dict[str, object] = {"framework": "tinker", "platform": "tinker"}
        if self.version is not None:
            said["eval_at_end"] = self.version == NEWEST and "ac" in row.told
        if step not in (0, 1):
            return said
        said["first_step"] = step
        # Asynchronous trainers and hand-written loops log the first evaluation whenever it is done.
        apart = self.version is None or "client_step" in row.told
        if row.evals or self.evaluated or not apart:
            said["eval_at_start"] = bool(row.evals) or self.evaluated
        return said

    def _total(self, row: Row, step: int) -> int | None:
        share = row.told.get("done_frac", row.told.get("progress"))
        if share is None:
            return None
        return self._plan.total(int(row.told.get("batch", step)), share, self.algorithm == "dpo")
