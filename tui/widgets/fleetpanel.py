"""The base of the panels that show many runs: a fleet's frame in place of a run's."""

from ...monitor.fleet.frame import FleetFrame
from ..lines import Line
from .panel import Panel


class FleetPanel(Panel):
    """Draws the lines that `lay_out_fleet` makes of the latest frame of a fleet."""

    fleet: FleetFrame | None = None

    def show_fleet(self, fleet: FleetFrame) -> None:
        """Take a newer frame; what looks as before is not drawn again."""
        if fleet is not self.fleet:
            self.fleet = fleet
            self.look_again()

    def look_again(self) -> None:
        """Lay out anew, since something other than the frame has changed."""
        self._laid_out = None
        self.renew()

    def lay_out_fleet(self, fleet: FleetFrame, width: int, height: int) -> list[Line]:
        """The panel's text at a size, in cells."""
        raise NotImplementedError

    def _texts(self, width: int, height: int) -> list[Line]:
        return (
            self.idle(width, height) if self.fleet is None else self.lay_out_fleet(self.fleet, width, height)
        )
