"""From the steps so far to the end of the run: dollars, time and response length, with intervals."""
