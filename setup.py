"""The packages, found: the five folders of the repository install as one; and the extension.

Where CPython has a stable ABI (not yet without the GIL) one wheel serves 3.11 and all that follow.
"""

import sys
import sysconfig

from setuptools import Extension, find_packages, setup

FOLDERS = ("wire", "storage", "emulator", "compat", "fixtures")
HAS_STABLE_ABI = sys.implementation.name == "cpython" and not sysconfig.get_config_var(
    "Py_GIL_DISABLED"
)


def packages() -> list[str]:
    """What is installed, by name; fixtures/root is `odradek` itself."""
    below = [
        f"{folder}.{name}" for folder in FOLDERS for name in find_packages(folder, exclude=["root"])
    ]
    return ["odradek", *(f"odradek.{name}" for name in sorted([*FOLDERS, *below]))]


def scan() -> Extension:
    """Built where there is a compiler."""
    limited = [("Py_LIMITED_API", "0x030B0000")] if HAS_STABLE_ABI else []
    return Extension(
        "odradek.wire._scan",
        ["wire/_scan.c"],
        define_macros=limited,
        py_limited_api=HAS_STABLE_ABI,
        optional=True,
    )


if __name__ == "__main__":
    tag = {"bdist_wheel": {"py_limited_api": "cp311"}} if HAS_STABLE_ABI else {}
    setup(packages=packages(), ext_modules=[scan()], options=tag)
