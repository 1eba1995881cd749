"""The command line."""


def main() -> int:
    """Run rltop; the exit code."""
    return 0
