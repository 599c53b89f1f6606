"""For all tests: pytest's own fixture for running pytest; Hypothesis without its time limit, which
fails examples on a busy machine."""

from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("odradek", deadline=None)
settings.load_profile("odradek")
