"""`odradek`: the pipeline's verbs beside the broker's; what is imported, and what is missing."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from odradek.compat import commands
from odradek.compat.commands import PIPELINE, main

HEAVY = ("numpy", "pyarrow", "pyspark", "fastavro", "rich", "odradek.compat.spark.pipeline")


def run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_help_lists_each_verb_with_one_line() -> None:
    lines = [" ".join(line.split()) for line in run("-m", "odradek", "--help").splitlines()]
    for verb in ("serve", "repair", "topics", "groups", "records", "configs"):
        assert any(line.startswith(f"{verb} ") for line in lines)
    for verb, summary in PIPELINE.items():
        assert f"{verb} {summary}" in lines


@pytest.mark.parametrize("arguments", [["topics", "--help"], ["serve", "--help"], ["--help"]])
def test_the_broker_s_verbs_import_nothing_of_the_pipeline(arguments: list[str]) -> None:
    program = (
        "import contextlib, io, sys\n"
        "from odradek.compat.commands import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        f"    main({arguments})\n"
        "print(*sys.modules)"
    )
    imported = run("-c", program).split()
    assert "odradek.compat.cli.main" in imported
    assert not [name for name in imported if name.startswith(HEAVY)]
    ours = {".".join(name.split(".")[:3]) for name in imported if "odradek.compat." in name}
    assert ours <= {"odradek.compat.commands", "odradek.compat.cli", "odradek.compat.wire_client"}


def test_the_shell_imports_nothing_of_the_broker() -> None:
    """It would take most of the time in which a command starts."""
    program = (
        "import contextlib, io, sys\n"
        "from odradek.compat.commands import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(['topics', '--help'])\n"
        "print(*sys.modules)"
    )
    imported = run("-c", program).split()
    assert "odradek.compat.cli.console.topics" in imported
    assert not {"odradek.emulator.cluster", "odradek.fixtures.kafka.emulator"} & set(imported)
    assert not [name for name in imported if name.startswith("odradek.storage")]


def test_what_each_worker_of_spark_imports_has_no_broker() -> None:
    pytest.importorskip("pyspark", reason="unavailable: pyspark")
    program = "import sys, odradek.compat.spark.source.building; print(*sys.modules)"
    imported = run("-c", program).split()
    assert "odradek.compat.spark.segments.writer" in imported
    assert not [name for name in imported if name.startswith("odradek.emulator")]


def test_a_serving_broker_has_nothing_of_the_pipeline(tmp_path: Path) -> None:
    """A module found in the path before the real one would be imported, and end the broker."""
    for name in ("numpy", "pyarrow", "pyspark", "rich", "fastavro"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r});"
        "from odradek.compat.commands import main; main()"
    )
    broker = subprocess.Popen(
        [sys.executable, "-c", program, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert broker.stdout is not None
    try:
        assert "127.0.0.1:" in broker.stdout.readline()
    finally:
        broker.terminate()
        broker.communicate(timeout=60)


class Verb(types.ModuleType):
    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("what")

    def run(self, options: Any) -> int:
        return 7 if options.what == "seven" else 1


def test_a_verb_is_imported_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def imported(name: str, package: str | None) -> Verb:
        asked.append(name)
        return Verb(name)

    monkeypatch.setitem(PIPELINE, "count", "counts")
    monkeypatch.setattr(commands, "import_module", imported)
    assert main(["count", "seven"]) == 7
    assert asked == [".spark.pipeline.count"]
    with pytest.raises(SystemExit) as refused:
        main(["count"])
    assert refused.value.code == 2


def test_what_is_missing_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(PIPELINE, "count", "counts")
    monkeypatch.setattr(
        commands, "find_spec", lambda name: None if name in ("numpy", "pyarrow") else name
    )
    assert main(["count", "seven"]) == 2
    assert capsys.readouterr().err == (
        "odradek: count needs numpy and pyarrow: pip install 'odradek[pipeline]'\n"
    )


def test_an_unknown_verb_is_answered_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["expart"])
    assert refused.value.code == 2
    error = capsys.readouterr().err
    assert "there is no command 'expart'; is export meant?" in error


@pytest.mark.parametrize("verb", ["mirror", "topics"])
def test_ctrl_c_while_a_command_is_imported_ends_it_quietly(tmp_path: Path, verb: str) -> None:
    """A module that the verb imports stands for the moment at which the key is pressed."""
    program = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.startswith('odradek.emulator.'): raise KeyboardInterrupt\n"
        "from odradek.compat.commands import main\n"
        "sys.meta_path.insert(0, Finder())\n"
        f"sys.exit(main([{verb!r}, 'localhost:9092', 'copy']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_options_of_the_pipelines_verbs_are_completed(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("bash", "man"):
        assert main(["completion", shell]) == 0
        said = capsys.readouterr().out.replace("\\-", "-")
        for option in ("--skip-damage", "--fill-limit", "--follow", "--overwrite", "--html"):
            assert option in said
