"""A state in a file: opened by another process, and refused by name if it is none."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek import Emulator, ManualClock
from odradek.emulator.snapshots.archive import HEAD, StateError
from odradek.emulator.snapshots.snapshot import Snapshot
from odradek.storage import MemoryDisk

from tests.emulator.snapshots.everything import everything


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    with Emulator(topics={"orders": 2}, clock=ManualClock()) as kafka:
        kafka.topic("orders").produce("x")
        kafka.group("g").commit({("orders", 0): 1})
        return kafka.snapshot().save(tmp_path / "state.tar")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "in_memory"),
    [("state.tar", False), ("state.tar.gz", True), ("state.tar.xz", True), ("state", True)],
)
def test_it_comes_back_anywhere(tmp_path: Path, name: str, in_memory: bool) -> None:
    disks = [MemoryDisk(), None] if in_memory else [None, MemoryDisk()]
    with Emulator(topics={"orders": 2}, clock=ManualClock(1 << 40), disk=disks[0]) as kafka:
        kafka.topic("orders").produce("x", timestamp=1 << 40)
        kafka.group("g").commit({("orders", 0): 1})
        before = everything(kafka)
        path = kafka.snapshot().save(tmp_path / name)
        kafka.reset()
        kafka.restore(path)
        assert everything(kafka) == before

    for disk in (disks[1], disks[0] and MemoryDisk()):
        with Emulator(state=path, clock=ManualClock(), disk=disk) as other:
            assert everything(other) == before
            assert other.notices == []
            other.topic("orders").produce("y")
            other.reset()
            assert everything(other) == before
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_another_process_opens_it(saved: Path) -> None:
    program = (
        "import sys; from odradek import Emulator\n"
        "with Emulator(state=sys.argv[1]) as kafka:\n"
        "    print(kafka.topic('orders').values(), kafka.group('g').offsets())"
    )
    done = subprocess.run([sys.executable, "-c", program, saved], capture_output=True, text=True)
    assert done.stdout == "[b'x'] {('orders', 0): 1}\n", done.stderr


def test_any_tar_lists_it(saved: Path) -> None:
    with tarfile.open(saved) as archive:
        names = archive.getnames()
    assert names[0] == HEAD
    assert {"meta.properties", f"orders-0/{0:020}.log"} <= set(names)


def test_a_data_dir_takes_it_once(saved: Path, tmp_path: Path) -> None:
    kafka = Emulator(state=saved, data_dir=tmp_path / "data")
    with kafka:
        kafka.topic("orders").produce("y")
    with kafka:
        assert set(kafka.topic("orders").values()) == {b"x", b"y"}
    with (
        pytest.raises(StateError, match=r"data has data already, which state=\.\.\. would replace"),
        Emulator(state=saved, data_dir=tmp_path / "data"),
    ):
        pass
    with Emulator(data_dir=tmp_path / "data") as kafka:
        assert set(kafka.topic("orders").values()) == {b"x", b"y"}


def rewritten(path: Path, edit: Callable[[str, bytes], tuple[str, bytes] | None]) -> None:
    with tarfile.open(path) as archive:
        files = [(info.name, archive.extractfile(info).read()) for info in archive]  # type: ignore[union-attr]
    with tarfile.open(path, "w") as archive:
        for each in files:
            if (found := edit(*each)) is not None:
                info = tarfile.TarInfo(found[0])
                info.size = len(found[1])
                archive.addfile(info, io.BytesIO(found[1]))


def head(**changes: object) -> Callable[[str, bytes], tuple[str, bytes]]:
    def edit(name: str, data: bytes) -> tuple[str, bytes]:
        return name, json.dumps(json.loads(data) | changes).encode() if name == HEAD else data

    return edit


def test_a_place_where_nothing_can_be_saved_is_named(saved: Path, tmp_path: Path) -> None:
    with Snapshot.load(saved) as state:
        for path, error, named in (
            (tmp_path / "missing" / "shop.tar", FileNotFoundError, tmp_path / "missing"),
            (saved / "shop.tar", NotADirectoryError, saved),
            (tmp_path, IsADirectoryError, tmp_path),
        ):
            with pytest.raises(error) as raised:
                state.save(path)
            assert raised.value.filename == str(named)
    assert list(tmp_path.parent.glob("*.tmp")) == []


def test_what_is_no_state_is_refused_by_name(saved: Path, tmp_path: Path) -> None:
    def refused() -> str:
        with pytest.raises(StateError) as why:
            Emulator(state=saved)
        assert str(saved) in str(why.value)
        return str(why.value).replace(str(saved), "FILE")

    whole = saved.read_bytes()
    rewritten(saved, head(format=2))
    text = "in format 2; this one reads format 1: make it again with this one"
    assert refused() == f"FILE was written by another version of Odradek, {text}"
    saved.write_bytes(whole)
    rewritten(saved, head(time_ms="now"))
    assert refused().startswith(f"FILE is damaged: {HEAD} cannot be read")
    saved.write_bytes(whole)
    rewritten(saved, lambda name, data: None if name == "meta.properties" else (name, data))
    assert "FILE is cut short: it has" in refused()
    saved.write_bytes(whole)
    rewritten(saved, lambda name, data: (name.replace("meta", "../meta"), data))
    assert refused().endswith("it has ../meta.properties")
    assert not (saved.parent / "meta.properties").exists()
    for content in (b"", b"no archive", whole[:1000], whole[: len(whole) // 2], bytes(20_000)):
        saved.write_bytes(content)
        assert refused().startswith("FILE is ")
        assert "\n" not in refused()
    saved.write_bytes(b"no archive")
    assert refused() == (
        "FILE is no state saved by Snapshot.save, or is damaged; save it anew, "
        "kafka.snapshot().save(path)"
    )
    with pytest.raises(FileNotFoundError):
        Snapshot.load(tmp_path / "missing")
    saved.write_bytes(whole)
    with pytest.raises(
        StateError, match=r"version='4.3', this one has '3.9': use Emulator\(state="
    ):
        Emulator(state=saved, version="3.9")
    with pytest.raises(StateError, match="naming='kafka', this one has 'documented'"):
        Emulator(state=saved, naming="documented")
    with pytest.raises(TypeError, match="state is a Snapshot, or the path of a file"):
        Emulator(state=7)  # type: ignore[arg-type]
