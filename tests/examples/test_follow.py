"""Following a folder and a jar: the command, what it shows, and what happens while a compiler is writing."""

from __future__ import annotations

import io
import os
import shutil
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from examples.analyser import __main__ as command
from examples.analyser.analyser import Analyser
from examples.analyser.bugs import CODES
from examples.analyser.follow import Watch


def console() -> Console:
    return Console(file=io.StringIO(), width=160)


def said(into: Console) -> str:
    assert isinstance(into.file, io.StringIO)
    return into.file.getvalue()


@pytest.fixture
def folder(compiled: Path, tmp_path: Path) -> Path:
    for name in ("Boxing", "Collecting"):
        shutil.copy(compiled / "cases" / f"{name}.class", tmp_path)
    return tmp_path


def test_the_table_of_bugs(folder: Path) -> None:
    shown = console()
    assert command.main([str(folder), "--only", "DM_GC", "--only", "DM_RUN_FINALIZERS_ON_EXIT"], shown) == 0
    text = said(shown)
    assert text.count("DM_GC") == 2 and text.count("DM_RUN_FINALIZERS_ON_EXIT") == 2
    assert "cases.Collecting" in text and "tidyRuntime()" in text and "4 bugs in 2 classes" in text


def test_nothing_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command.main([str(tmp_path / "missing")]) == 2
    assert "there is nothing at" in capsys.readouterr().err


def test_every_class_that_changes_is_a_transaction(compiled: Path, folder: Path) -> None:
    live, watch, shown = Analyser(["DM_GC", "FL_PUBLIC_SHOULD_BE_PROTECTED"]), Watch(folder), console()
    live.replace((seen.place, seen.facts) for seen in watch.look())
    assert len(live.bugs()) == 2
    shutil.copy(compiled / "cases" / "Finalizers.class", folder)
    (folder / "Collecting.class").unlink()
    before = live.db._session.number
    command.follow(live, watch, shown, 0, rounds=2)
    text = said(shown)
    assert live.db._session.number == before + 2
    assert "cases.Collecting removed" in text and "cases.Finalizers added" in text
    assert text.count("  - DM_GC") == 2 and text.count("  + FL_PUBLIC_SHOULD_BE_PROTECTED") == 1
    assert "Explicitly" not in text and "The garbage collector is called explicitly" in text
    shutil.copy(compiled / "cases" / "Boxing.class", folder / "Finalizers.class")
    command.follow(live, watch, shown, 0, rounds=1)
    assert "cases.Boxing changed" in said(shown) and live.bugs() == []


def test_a_class_that_is_being_written_keeps_its_old_version(compiled: Path, folder: Path) -> None:
    live, watch, shown = Analyser(["DM_GC"]), Watch(folder), console()
    live.replace((seen.place, seen.facts) for seen in watch.look())
    whole = (folder / "Collecting.class").read_bytes()
    (folder / "Collecting.class").write_bytes(whole[:100])
    command.follow(live, watch, shown, 0, rounds=3)
    assert said(shown).count("ends too early") == 1 and len(live.bugs()) == 2
    (folder / "Collecting.class").write_bytes(whole)
    os.utime(folder / "Collecting.class", ns=(1, 1))
    command.follow(live, watch, shown, 0, rounds=1)
    assert "cases.Collecting changed: 0 rows" in said(shown) and len(live.bugs()) == 2


def test_a_jar_is_followed_too(compiled: Path, tmp_path: Path) -> None:
    jar = tmp_path / "cases.jar"

    def write(*names: str) -> None:
        with zipfile.ZipFile(jar, "w") as archive:
            archive.writestr("META-INF/versions/9/Boxing.class", b"not looked at")
            archive.writestr("module-info.class", b"nor is this")
            for name in names:
                archive.write(compiled / "cases" / f"{name}.class", f"cases/{name}.class")

    write("Boxing", "Collecting")
    live, watch = Analyser(CODES[:5]), Watch(tmp_path)
    live.replace((seen.place, seen.facts) for seen in watch.look())
    assert len(live.bugs()) == 4 and sorted(live.classes) == ["cases/Boxing", "cases/Collecting"]
    assert list(watch.look()) == []
    write("Collecting", "Inheritance")
    changed = list(watch.look())
    assert [(seen.place.entry, seen.facts is None) for seen in changed] == [
        ("cases/Boxing.class", True),
        ("cases/Inheritance.class", False),
    ]
    live.replace((seen.place, seen.facts) for seen in changed)
    assert {bug.pattern for bug in live.bugs()} == {"DM_GC", "CL_CONFUSED_INHERITANCE"}
    jar.write_bytes(b"PK: an archive that is not finished")
    assert [seen.facts for seen in watch.look()] in ([], [None, None])


def test_an_interrupt_ends_it_cleanly(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    # A clock of its own: other threads of the process sleep too.
    monkeypatch.setattr(command, "time", SimpleNamespace(**{**vars(time), "sleep": interrupt}))
    shown = console()
    assert command.main([str(folder), "--follow", "--only", "DM_GC"], shown) == 0
    assert said(shown).count("2 bugs in 2 classes") == 2


def test_a_bad_class_is_skipped_and_named(folder: Path) -> None:
    (folder / "Bad.class").write_bytes(b"\0" * 30)
    shown = console()
    assert command.main([str(folder), "--only", "DM_GC"], shown) == 0
    assert (
        "skipped" in said(shown)
        and "not a class file" in said(shown)
        and "2 bugs in 2 classes" in said(shown)
    )
