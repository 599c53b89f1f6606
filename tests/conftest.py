"""For all tests: pytest's own fixture for running pytest."""

pytest_plugins = ["pytester"]
