"""What the driver's numbered errors (XIDs) are about, in a few words.

Source: NVIDIA's XID catalogue, https://docs.nvidia.com/deploy/xid-errors/.
"""

MEANINGS = {
    13: "the program's own fault",
    31: "the program read or wrote where it may not",
    43: "the program was stopped after a fault of its own",
    45: "the program was stopped by the driver",
    48: "a memory error that could not be corrected",
    62: "the GPU's power controller halted",
    63: "a memory row was replaced",
    64: "a memory row could not be replaced",
    74: "an NVLink error",
    79: "the GPU has fallen off the bus",
    92: "many memory errors, corrected",
    94: "a memory error, contained to one program",
    95: "a memory error that was not contained",
    119: "the GPU's own processor does not answer",
    120: "the GPU's own processor failed",
}


def named(xid: int) -> str:
    """The error as a line has room for it: `XID 79, the GPU has fallen off the bus`."""
    meaning = MEANINGS.get(xid)
    return f"XID {xid}, {meaning}" if meaning else f"XID {xid}"
