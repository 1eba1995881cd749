"""A report of a run: the bill, how the projection moved, and the alerts, as Markdown, HTML or JSON."""
