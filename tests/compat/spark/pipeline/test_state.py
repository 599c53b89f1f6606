"""The state file: what is done is done once, also after a kill at any byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.compat.spark.pipeline.errors import PipelineError
from odradek.compat.spark.pipeline.state import State, default_path

ASKED = {"place": "here", "format": "csv"}


def begun(path: Path) -> bytes:
    with State(path, ASKED, resume=False) as state:
        state.begin(["a", "b", "c"])
        state.finish_piece(1, {"rows": 5})
        state.finish_piece(0, {"rows": 6})
    return path.read_bytes()


def test_a_resumed_run_knows_the_plan_and_what_is_done(tmp_path: Path) -> None:
    begun(tmp_path / "state")
    with State(tmp_path / "state", ASKED, resume=True) as state:
        assert state.plan == ["a", "b", "c"]
        assert state.done == {1: {"rows": 5}, 0: {"rows": 6}}
        state.finish_piece(2, {"rows": 7})
    with State(tmp_path / "state", ASKED, resume=True) as state:
        assert sorted(state.done) == [0, 1, 2]
        state.remove()
    assert not (tmp_path / "state").exists()


def test_a_run_killed_while_it_wrote_loses_one_piece_at_most(tmp_path: Path) -> None:
    path = tmp_path / "state"
    whole = begun(path)
    ends = [index + 1 for index, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(ends[0], len(whole)):
        path.write_bytes(whole[:cut])
        with State(path, ASKED, resume=True) as state:
            assert len(state.done) == sum(end <= cut for end in ends[1:])
            state.finish_piece(2, {"rows": 7})
        with State(path, ASKED, resume=True) as state:
            assert state.done[2] == {"rows": 7}


def test_what_was_begun_is_not_begun_again_unasked(tmp_path: Path) -> None:
    begun(tmp_path / "state")
    with pytest.raises(PipelineError, match="--resume goes on with it"):
        State(tmp_path / "state", ASKED, resume=False)


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="nothing to resume"):
        State(tmp_path / "state", ASKED, resume=True)


@pytest.mark.parametrize("resume", [True, False])
def test_a_run_that_was_killed_before_it_had_begun_begins(resume: bool, tmp_path: Path) -> None:
    path = tmp_path / "state"
    first = begun(path).partition(b"\n")[0]
    for cut in (0, 1, 9, 10, 30, len(first)):
        path.write_bytes(first[:cut])
        with State(path, ASKED, resume=resume) as state:
            assert (state.plan, state.done) == (None, {})
            state.begin(["a"])
        with State(path, ASKED, resume=True) as state:
            assert state.plan == ["a"]
            state.remove()


def test_another_command_is_not_resumed(tmp_path: Path) -> None:
    begun(tmp_path / "state")
    with pytest.raises(PipelineError, match=r"of a run with another format: give the same"):
        State(tmp_path / "state", ASKED | {"format": "jsonl"}, resume=True)


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("dear diary\n")
    with pytest.raises(PipelineError, match="is no state of a command"):
        State(tmp_path / "state", ASKED, resume=True)
    assert (tmp_path / "state").read_text() == "dear diary\n"


def test_two_commands_do_not_share_a_state(tmp_path: Path) -> None:
    with State(tmp_path / "state", ASKED, resume=False) as state:
        state.begin([])
        for resume in (True, False):
            with pytest.raises(PipelineError, match="used by a command that runs"):
                State(tmp_path / "state", ASKED, resume=resume)


def test_a_run_that_fails_before_it_begins_leaves_nothing(tmp_path: Path) -> None:
    with State(tmp_path / "state", ASKED, resume=False):
        pass
    assert not (tmp_path / "state").exists()


def test_no_folder_is_left_either(tmp_path: Path) -> None:
    with State(tmp_path / "a/b/state", ASKED, resume=False):
        pass
    assert list(tmp_path.iterdir()) == []
    with State(tmp_path / "a/b/state", ASKED, resume=False):
        (tmp_path / "a/another").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["another"]


def test_places_have_states_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    one, other = default_path("load", ["a", "bc"]), default_path("load", ["ab", "c"])
    assert one != other
    assert one.parent == tmp_path / "odradek"


@pytest.mark.parametrize("resume", [True, False])
def test_a_file_that_is_no_state_is_left_as_it_is(resume: bool, tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_bytes(b"id,name\n1,a\n2,b without an end of line")
    before = path.read_bytes()
    with pytest.raises(PipelineError, match=r"orders\.csv is no state of a command: give another"):
        State(path, ASKED, resume=resume)
    assert path.read_bytes() == before
