"""The screen. Textual only: nothing here parses, prices, reads a file or reads a clock."""
