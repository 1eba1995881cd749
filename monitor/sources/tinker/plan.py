"""How many steps the run will have, from what each row says of its own progress.

The one rule: exact or nothing. The cookbook logs `(step + 1) / total` (RL, supervised) or `step / total`
(DPO, the minimal supervised loop); the two are told apart, and the total is a whole number.
"""

_EXACT = 1e-3
"""How far the quotient of a step and its logged share may be from a whole number."""
_MOST = 1e12


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
        done, begun = (step + 1) / share, step / share
        if _is_whole(done) != _is_whole(begun):
            self._counts_done = _is_whole(done)
        elif self._before is not None:
            # The right reading gives the same total in two rows; the wrong one moves.
            moved_done, moved_begun = abs(done - self._before[0]), abs(begun - self._before[1])
            if moved_done != moved_begun:
                self._counts_done = moved_done < moved_begun
        self._before = done, begun
        quotient = done if self._counts_done else begun
        return round(quotient) if _is_whole(quotient) else None


def _is_whole(quotient: float) -> bool:
    return 0.5 < quotient < _MOST and abs(quotient - round(quotient)) <= _EXACT
