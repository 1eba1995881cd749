"""How many steps the run will have, from what each row says of its own progress.

The one rule: exact or nothing. The cookbook logs `(step + 1) / total` (RL, supervised) or `step / total`
(DPO, the minimal supervised loop); the two are told apart, and the total is the nearest whole number.
"""

_EXACT = 1e-3
"""How far the quotient of two logged numbers may be from a whole one, as a share of the total per step."""


class Plan:
    """Reads `progress/done_frac` and `progress` row by row."""

    def __init__(self) -> None:
        self._counts_done = True
        """The rows log (step + 1) / total, not step / total."""
        self._before: tuple[float, float] | None = None

    def total(self, step: int, share: float, is_dpo: bool) -> int | None:
        """Total steps of the run as this row tells it; None where it cannot.

        `share` is the progress logged with step `step`, 0 to 1.
        """
        if is_dpo or (step == 0 and share == 0):
            self._counts_done = False
        if not 0 < share <= 1 or step < 0:
            return None
        after, before = (step + 1) / share, step / share
        if self._before is not None:
            # The right reading gives the same total in two rows; the wrong one moves.
            moved_after, moved_before = abs(after - self._before[0]), abs(before - self._before[1])
            if moved_after != moved_before:
                self._counts_done = moved_after < moved_before
        self._before = after, before
        quotient = after if self._counts_done else before
        total = round(quotient)
        return (
            total if total >= 1 and abs(quotient - total) <= _EXACT * max(1.0, total / (step + 1)) else None
        )
