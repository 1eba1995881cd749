"""What has been told of a run. Its one rule: each fact is told once."""

from ...models.run import RunInfo


class Told:
    """All facts so far, merged."""

    def __init__(self) -> None:
        self.info = RunInfo()

    def news(self, info: RunInfo) -> list[RunInfo]:
        """The facts as an event, if any of them is new."""
        merged = self.info.merged(info)
        if merged == self.info:
            return []
        self.info = merged
        return [info]
