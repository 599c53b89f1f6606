"""A state in one file: a tar archive, which any tar can list and unpack.

    odradek-state.json      {"format": 1, "release": "4.3", "naming": "kafka", …}
    meta.properties         the files of a log directory, as Kafka has them
    orders-0/00000000000000000000.log
    …

The first member says what the rest is. A name that ends in `.gz`, `.bz2` or `.xz` is compressed so;
any of these is read, whatever its name. Names are checked before anything is written: nothing lands
outside of its folder. Only its owner may read the file. It is written under another name, and gets
its own when it is complete.

What may be wrong with a state.
"""

from __future__ import annotations

import json
import os
import tarfile
import zlib
from contextlib import suppress
from gzip import BadGzipFile
from io import BytesIO
from lzma import LZMAError
from pathlib import Path
from typing import Any

from ..base.words import number_of
from .images import Entry, FolderImage, Image, write_file


class StateError(Exception):
    """A state cannot be used. The text says which, why, and what to do."""


FORMAT = 1
HEAD = "odradek-state.json"
_FIELDS = {"files": int, "time_ms": int, "release": str, "naming": str, "cluster_id": str}
_COMPRESSED = {".gz": "gz", ".bz2": "bz2", ".xz": "xz"}
_DAMAGE = (tarfile.TarError, EOFError, BadGzipFile, zlib.error, LZMAError)


def write(path: Path, head: dict[str, Any], image: Image) -> None:
    """Write a state, replacing a file of that name. Raises OSError, which names that file, or its
    directory if there is none."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    mode = "w:" + _COMPRESSED.get(path.suffix, "")
    entries = list(image.entries())
    described = {"format": FORMAT, "files": len(entries), **head}
    try:
        with (
            open(beside, "wb", opener=_own) as file,
            tarfile.open(fileobj=file, mode=mode, format=tarfile.PAX_FORMAT) as archive,  # type: ignore[call-overload]
        ):
            text = json.dumps(described, indent=1).encode()
            _add(archive, Entry(HEAD, len(text), 0), text)
            for entry in entries:
                _add(archive, entry, image.read(entry.path))
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):  # it is not there
            beside.unlink()
        if isinstance(error, OSError) and error.filename == str(beside):
            missing = path if path.parent.is_dir() else path.parent
            raise OSError(error.errno, error.strerror, str(missing)) from None
        raise


def _own(path: str, flags: int) -> int:
    """Opens a file that only its owner may read: there are credentials in a state."""
    return os.open(path, flags, 0o600)


def _add(archive: tarfile.TarFile, entry: Entry, data: bytes) -> None:
    info = tarfile.TarInfo(entry.path)
    info.size = len(data)
    info.mtime = entry.modified_ms / 1000
    archive.addfile(info, BytesIO(data))


def read(path: Path) -> tuple[dict[str, Any], FolderImage]:
    """Read a state. Raises StateError for what is none, OSError."""
    image = FolderImage()
    try:
        head = _unpack(path, image.folder())
    except BaseException as error:
        image.close()
        if isinstance(error, _DAMAGE):
            text = f"{path} is no state saved by Snapshot.save, or is damaged"
            # What tarfile cannot open it has tried to read in each compression, a line each.
            why = "" if "\n" in str(error) else f": {error}"
            raise StateError(f"{text}{why}; save it anew, kafka.snapshot().save(path)") from error
        raise
    return head, image


def _unpack(path: Path, folder: Path) -> dict[str, Any]:
    with tarfile.open(path) as archive:
        head = _head(path, archive)
        count = 0
        for info in archive:
            if info.name == HEAD:
                continue
            parts = info.name.split("/")
            if not info.isreg() or len(parts) > 2 or {"", ".", ".."} & set(parts):
                raise StateError(f"{path} is no state saved by Snapshot.save: it has {info.name}")
            file = archive.extractfile(info)
            assert file is not None
            write_file(folder, Entry(info.name, info.size, round(info.mtime * 1000)), file.read())
            count += 1
    if count != head["files"]:
        raise StateError(
            f"{path} is cut short: it has {count} of {number_of(head['files'], 'file')}"
        )
    return head


def _head(path: Path, archive: tarfile.TarFile) -> dict[str, Any]:
    """The head, the archive's first member. Raises StateError."""
    first = archive.next()
    file = archive.extractfile(first) if first is not None and first.name == HEAD else None
    if file is None:
        raise StateError(
            f"{path} is no state saved by Snapshot.save: it does not begin with {HEAD}"
        )
    try:
        head = json.loads(file.read())
        found = head["format"]
        if found == FORMAT:
            for name, kind in _FIELDS.items():
                if not isinstance(head[name], kind):
                    raise TypeError(f"{name} is {head[name]!r}")
    except (ValueError, KeyError, TypeError) as error:
        raise StateError(f"{path} is damaged: {HEAD} cannot be read: {error!r}") from error
    if found != FORMAT:
        raise StateError(
            f"{path} was written by another version of Odradek, in format {found}; this one reads "
            f"format {FORMAT}: make it again with this one"
        )
    checked: dict[str, Any] = head
    return checked
