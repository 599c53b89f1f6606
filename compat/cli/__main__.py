"""`python -m odradek.compat.cli`: the `odradek` command, where it is not on the path."""

import sys

from .main import main

if __name__ == "__main__":
    sys.exit(main())
