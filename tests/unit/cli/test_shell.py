"""The shell: statements and commands from a pipe, and on a terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import evercurrent as ec
from evercurrent.cli import main as command_line
from evercurrent.cli.shell import Shell, end_of_statement

SCRIPT = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total DECIMAL(12,2));
CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;
.watch spend
INSERT INTO orders VALUES (1, 7, 9.50),
    (2, 7, 3), (3, 8, 1); -- a comment; with a semicolon
.watch spend
INSERT INTO orders VALUES (4, 9, 1);
SELECT * FROM spend ORDER BY customer;
.why spend 7, '12.50'
.explain spend
.explain spend algebra
.tables
.schema
.oql 1 + 1
.verify
.help
"""


def shell(db: ec.Database) -> tuple[Shell, Console]:
    console = Console(file=io.StringIO(), width=200, soft_wrap=True, highlight=False)
    return Shell(db, console), console


def said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_statements_and_commands(tmp_path: Path) -> None:
    with ec.connect(tmp_path / "shop.db") as db:
        talk, console = shell(db)
        assert talk.run(io.StringIO(SCRIPT)) == 0
        text = said(console)
    assert "+ (7, Decimal('12.50'))" in text
    assert text.count("transaction 1:") == 1
    assert "transaction 2" not in text
    assert "12.50" in text.split("SELECT")[0]
    assert "(1, 7, Decimal('9.50'))" in text or "9.50" in text
    assert "table  orders  4" in text
    assert "view   spend   3" in text
    assert "CREATE TABLE `orders` (`id` BIGINT NOT NULL" in text
    assert "CREATE VIEW spend AS SELECT" in text
    assert "\n2\n" in text
    assert "as recomputed" in text
    assert ".watch" in text
    with ec.connect(tmp_path / "shop.db") as db:
        assert len(db.table("orders")) == 4


def test_the_first_error_ends_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ec.connect(tmp_path / "shop.db") as db:
        talk, _ = shell(db)
        assert (
            talk.run(io.StringIO("CREATE TABLE a (n INT);\nSELECT nix FROM a;\nCREATE TABLE b (n INT);")) == 1
        )
        assert db.tables == ["a"]
        assert "no column nix" in capsys.readouterr().err
        for wrong, hint in (
            (".nix", ".tables"),
            (".why a", "not a view"),
            (".explain", "which view"),
            (".schema nix", "nix"),
        ):
            assert talk.run(io.StringIO(wrong)) == 1
            assert hint in capsys.readouterr().err
        assert talk.run(io.StringIO(".quit\nSELECT nix;")) == 0


def test_on_a_terminal_errors_are_shown_and_the_next_statement_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    lines = iter(["CREATE TABLE a", "(n INT);", "SELECT nix FROM a;", "INSERT INTO a VALUES (5);", ".tables"])
    prompts = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        for line in lines:
            return line
        raise EOFError

    monkeypatch.setattr("builtins.input", answer)
    with ec.connect() as db:
        talk, console = shell(db)
        assert talk.talk() == 0
        assert "table  a  1" in said(console)
        assert prompts == ["shop> ", "    . ", "shop> ", "shop> ", "shop> ", "shop> "]
        assert "no column nix" in capsys.readouterr().err
        assert [talk.completion("a", 0), talk.completion(".ta", 0), talk.completion("SEL", 0)] == [
            "a",
            ".tables",
            "SELECT",
        ]
        assert talk.completion("zzz", 0) is None


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("a;b", 2),
        ("a", None),
        ("';';", 4),
        ("`;`", None),
        ("-- ;\n;", 6),
        ("/* ; */;", 8),
        ("'\\';';", 6),
        ("-- ;", None),
    ],
)
def test_where_a_statement_ends(text: str, end: int | None) -> None:
    assert end_of_statement(text) == end


def test_from_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    done: Any = subprocess.run(
        [sys.executable, "-m", "evercurrent.cli.main", "shell", str(path)],
        input="CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2);\nSELECT SUM(a) AS s FROM t;",
        text=True, capture_output=True, check=False, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "3" in done.stdout
    assert "INSERT" in done.stdout
    with ec.connect(path) as db:
        assert db.table("t").rows() == [(1,), (2,)]


def test_the_command_is_listed() -> None:
    assert "shell" in command_line.COMMANDS
