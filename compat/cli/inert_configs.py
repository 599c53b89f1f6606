"""`python -m odradek.compat.cli.inert_configs`: the configs that nothing obeys, with reasons."""

import sys

from ...emulator.config.inert import page
from .console.output import with_output


def main() -> int:
    print(page())
    return 0


if __name__ == "__main__":
    sys.exit(with_output(main))
