"""For all tests: pytest's own fixture for running pytest, and how Hypothesis draws.

Without its time limit, which fails examples on a busy machine; and the same examples every time, so
that a change is what turns a test red. `make explore` draws new ones.
"""

from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("odradek", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("odradek")
