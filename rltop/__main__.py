"""`python -m rltop`."""

import sys

from .cli import main

sys.exit(main())
