"""Builds the fake NVIDIA driver, libnvidia-ml.so.1: `build_driver.py FOLDER`; 3 without a C compiler.

Every function that the installed pynvml may ask for and fake_nvml.c does not have is made to answer
NOT_SUPPORTED, as a real driver would: a function that is missing altogether is another matter.
"""

import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "fake_nvml.c"
LIBRARY = "libnvidia-ml.so.1"


def main(folder: Path) -> int:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return 3
    theirs = Path(str(distribution("nvidia-ml-py").locate_file("pynvml.py"))).read_text()
    wanted = set(re.findall(r'_nvmlGetFunctionPointer\("(nvml\w+)"\)', theirs))
    written = set(re.findall(r"^EXPORT .*?(nvml\w+)\(", SOURCE.read_text(), re.MULTILINE))
    assert written & wanted, "pynvml no longer names its functions as it did"
    stubs = "".join(f"STUB({name})\n" for name in sorted(wanted - written))
    (folder / "stubs.inc").write_text(stubs)
    flags = ("-O1", "-Wall", "-Werror", "-fPIC", "-shared", f"-Wl,-soname,{LIBRARY}", f"-I{folder}")
    subprocess.run([compiler, *flags, "-o", folder / LIBRARY, SOURCE, "-lpthread"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
