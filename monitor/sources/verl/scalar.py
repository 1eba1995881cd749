"""Reads one configuration value as Python, YAML and Hydra write it."""

import re

from ....models.run import ConfigValue

WORDS: dict[str, ConfigValue] = {
    "true": True,
    "false": False,
    "none": None,
    "null": None,
    "~": None,
    "": None,
}
INT = re.compile(r"[-+]?\d{1,18}")
FLOAT = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf|nan|\.inf|\.nan)")


def scalar(text: str) -> ConfigValue:
    """A value: quoted text is text, everything else what it looks like."""
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if INT.fullmatch(text):
        return int(text)
    if FLOAT.fullmatch(text):
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    return text
