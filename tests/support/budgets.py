"""Budgets: what Odradek may weigh at most. They go down, never up without a reason worth it to all.

`tests/test_budgets.py` fails where one is exceeded, and where it is too high by more than 5 %.
"""

# Modules of Odradek that are loaded, what `make weigh` calls "of ours".
MODULES = {
    "import odradek": 1,
    "the pytest plugin": 8,
    "from odradek import Emulator": 236,
    "the first `with Emulator()`": 250,
    "`odradek serve` at ready": 251,
}

# Lines of Python.
LINES = {
    "wire": 11_030,
    "storage": 10_300,
    "emulator": 60_300,
    "fixtures": 26_720,
    "compat": 47_300,
    "tests": 175_000,
}
