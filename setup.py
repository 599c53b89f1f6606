"""The packages, found: the five folders of the repository install as parts of one."""

from setuptools import find_packages, setup

FOLDERS = ("wire", "storage", "emulator", "compat", "fixtures")


def packages() -> list[str]:
    """What is installed, by name; fixtures/root is `odradek` itself."""
    below = [
        f"{folder}.{name}" for folder in FOLDERS for name in find_packages(folder, exclude=["root"])
    ]
    return ["odradek", *(f"odradek.{name}" for name in sorted([*FOLDERS, *below]))]


if __name__ == "__main__":
    setup(packages=packages())
