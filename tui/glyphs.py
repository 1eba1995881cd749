"""The signs of the screen, and what stands in for each where a font or a reader has ASCII only.

A sign is as wide as its stand-in, one cell but for Textual's own magnifying glass: a layout never depends on
the choice.
"""

STATUS = {"running": "●", "stalled": "○", "crashed": "✖", "finished": "✓", "unknown": "·"}
SEVERITY = {"critical": "✖", "warning": "▲", "info": "·"}
BLOCKS = " ▁▂▃▄▅▆▇█"
"""A cell filled from below, in eighths."""
SHADE = "░"
FULL, EMPTY = "▰", "▱"

BRAILLE_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""Bit of a dot, by column (0 left, 1 right) and row (0 top) of its cell."""
BRAILLE = 0x2800

_ASCII = {
    "●": "*", "○": "o", "✖": "x", "✓": "+", "·": "-", "▲": "!", "▼": "v", "▰": "#", "▱": ".", "░": ":",
    "┤": "|", "│": "|", "┊": ":", "┄": "-", "─": "-", "┼": "+", "┴": "+", "├": "|", "└": "+", "▶": ">",
    "⏸": "=", "–": "-", "×": "x", "±": "~", "…": "~", "→": ">", "←": "<", "␣": "_", "°": " ", "↑": "^",
    "━": "=", "╌": "-", "◆": "X", "█": "#", "▁": "_", "▂": "_", "▃": ".", "▄": "-", "▅": "-", "▆": "=",
    "▇": "=", "▿": ",", "◇": "o", "↺": "@", "▸": ">", "≥": ">", "≤": "<", "↓": "v", "▌": "|", "▔": "-",
    "🔎": "> ", "┘": "+",
}  # fmt: skip


def _ascii_of_dots(mask: int) -> str:
    """A stroke that leans and lies as the dots of a braille cell do."""
    left, right = ([row for row, bit in enumerate(bits) if mask & bit] for bits in BRAILLE_BITS)
    if left and right:
        lean = sum(left) / len(left) - sum(right) / len(right)
        if abs(lean) >= 1:
            return "/" if lean > 0 else "\\"
    rows = left + right
    if max(rows) - min(rows) >= 2:
        return "|"
    return "'--_"[round(sum(rows) / len(rows))]


TO_ASCII = str.maketrans(
    {
        **_ASCII,
        chr(BRAILLE): " ",
        **{chr(BRAILLE + mask): _ascii_of_dots(mask) for mask in range(1, 256)},
    }
)
"""For `str.translate`."""
