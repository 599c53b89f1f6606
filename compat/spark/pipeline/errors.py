"""PipelineError: why a command cannot do what it was asked.

An error of a full disk says where: a write to an open file knows no name of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, ENOSPC


class PipelineError(Exception):
    """The text is one line for the user. The command ends with status 2."""


_FULL = (ENOSPC, EDQUOT, EFBIG)
"""Reading never fails with these, so what is named is what was written."""


@contextmanager
def full_disk_names(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name a file or directory in a full disk's error that names none. Raises OSError."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            raise
        # Arrow's text has the error twice; the system's has it once.
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error
