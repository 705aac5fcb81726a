"""The command line, without Spark: batches of this size need none."""

from __future__ import annotations

import warnings
import webbrowser
from contextlib import closing
from pathlib import Path

import httpx
import pytest

import evercurrent as ec
from evercurrent.cli.main import DIFFERS, FAILED, FINE, UNVERIFIED, main
from evercurrent.engine.spark import engine, private_session
from evercurrent.serve.server import Server
from evercurrent.warehouse import database
from evercurrent.warehouse.database import Warehouse

PIPELINE = """-- What customers spend.
CREATE TABLE orders (id INT PRIMARY KEY, customer STRING, total INT);

CREATE VIEW spend AS
    SELECT customer, sum(total) AS total FROM orders GROUP BY customer;
CREATE ASSERTION cheap CHECK (NOT EXISTS (SELECT 1 FROM orders WHERE total > 100));
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipeline and its TOML file, in a folder of their own; Spark is never started."""
    monkeypatch.setattr(engine, "private", lambda spark: None)
    monkeypatch.setattr(private_session, "local_session", lambda master, conf: None)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "p.sql").write_text(PIPELINE)
    (tmp_path / "p.toml").write_text("warehouse = 'w'\n[views.spend]\npublish = 'out'\n")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_a_pipeline_is_defined_once(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(place / "p.sql")]) == FINE
    first = said(capsys)
    assert "table orders: created" in first and "assertion cheap: created" in first
    assert "view spend: created, published" in first and "nothing is new" in first
    assert (place / "out" / "_delta_log").is_dir() and not (place / "w" / "views" / "spend").exists()
    assert main(["run", str(place / "p.sql")]) == FINE
    again = said(capsys)
    assert again.count("unchanged") == 3 and "created" not in again
    (place / "p.sql").write_text(PIPELINE.replace("sum(total)", "max(total)"))
    (place / "p.toml").write_text("warehouse = 'w'\n[views.spend]\npolicy = 'auto'\npublish = false\n")
    assert main(["run", str(place / "p.sql")]) == FINE
    assert "view spend: replaced, published nowhere" in said(capsys)
    db = Warehouse(None, place / "w")
    definition = next(d for d in db._core.snapshot.definitions if d["name"] == "spend")
    assert (definition["policy"], definition["publish"]) == ("auto", False)


def test_the_other_commands(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(place / "p.sql")]) == FINE
    db = Warehouse(None, place / "w")
    db.apply({"orders": [{"_change_type": "insert", "id": 1, "customer": "[b]", "total": 5}]}, batch="[red]")
    capsys.readouterr()
    at = ["--warehouse", str(place / "w")]
    assert main(["history", *at]) == FINE
    listed = said(capsys)
    assert "[red]" in listed and "CREATE VIEW" in listed and "batch" in listed
    assert main(["history", "--last", "1", *at]) == FINE
    assert "CREATE VIEW" not in said(capsys)
    assert main(["explain", *at]) == FINE
    assert "spend" in said(capsys)
    assert main(["explain", "spend", "--stage", "program", *at]) == FINE
    assert "orders" in said(capsys)
    assert main(["compact", "--keep", "1", "--hours", "0", *at]) == FINE
    assert "freed" in said(capsys)
    assert main(["refresh", "--settings", str(place / "p.toml")]) == FINE
    assert "nothing is new" in said(capsys)
    assert Warehouse(None, place / "w").view("spend").rows() == [("[b]", 5)]


def test_a_view_that_differs_has_an_exit_code_of_its_own(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from evercurrent.statements.report import Report, Verified

    main(["run", str(place / "p.sql")])
    for missing, why, code in (([], "", FINE), ([("Ann", 3)], "", DIFFERS), ([], "too large", UNVERIFIED)):
        report = Report((Verified("spend", 1, list(missing), skipped=why),))
        monkeypatch.setattr(database, "verify", lambda core, names, report=report: report)
        assert main(["verify", "--warehouse", str(place / "w")]) == code
    shown = said(capsys)
    assert "missing     ('Ann', 3)" in shown and "spend: not verified: too large" in shown


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("CREATE VIEW v AS\n  SELECT nothing FROM orders;", ["p.sql, line 7:", "nothing", "^"]),
        ("DROP TABLE orders;", ["p.sql, line 7:", "a pipeline holds definitions"]),
        ("CREATE VIEW v AS SELEC 1;", ["p.sql", "^"]),
    ],
)
def test_errors_show_the_file_and_the_place(
    place: Path, capsys: pytest.CaptureFixture[str], sql: str, words: list[str]
) -> None:
    (place / "p.sql").write_text(PIPELINE + sql)
    assert main(["run", str(place / "p.sql")]) == FAILED
    error = capsys.readouterr().err
    assert error.startswith("error: ") and all(word in error for word in words), error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nowhere.sql"], "there is no file nowhere.sql"),
        (["refresh"], "which warehouse?"),
        (["refresh", "--warehouse", "nowhere"], "there is no warehouse in nowhere"),
        (["refresh", "--settings", "nowhere.toml"], "there is no file nowhere.toml"),
    ],
)
def test_what_is_missing_is_said(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(arguments) == FAILED
    assert words in capsys.readouterr().err
    assert not Path("nowhere").exists()


def test_a_wrong_command_line(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["rum"])
    assert left.value.code == 2 and "invalid choice" in capsys.readouterr().err
    main(["run", str(place / "p.sql")])
    assert main(["refresh", "--warehouse", str(place / "w"), "--conf", "x"]) == FAILED
    assert main(["refresh", "--warehouse", str(place / "w"), "--full", "orders"]) == FAILED
    assert "there is no source 'orders'" in capsys.readouterr().err
    (place / "p.toml").write_text("warehouse = 'w'\n[views.spent]\npolicy = 'auto'\n")
    assert main(["run", str(place / "p.sql")]) == FAILED
    assert "[views.spent] is for a view that p.sql does not define" in capsys.readouterr().err


def test_check_finds_damage_and_repairs_it(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(place / "p.sql")]) == FINE
    db = Warehouse(None, place / "w")
    db.apply({"orders": [{"_change_type": "insert", "id": 1, "customer": "[b]", "total": 5}]})
    at = ["check", "--warehouse", str(place / "w")]
    capsys.readouterr()
    assert main(at) == FINE
    assert "nothing is damaged" in said(capsys)
    tables = {f for s in db._core.table_segments("orders").segments for f in s.files}
    state = place / "w" / min(db._core.snapshot.files() - tables)
    state.write_bytes(state.read_bytes()[:-1])
    max((place / "w" / "_log").glob("*.json")).unlink()
    assert main(at) == FAILED
    shown = said(capsys)
    assert "missing" in shown and "1 are damaged" in shown and "--repair" in shown
    assert main([*at, "--repair"]) == FAILED, "earlier versions still mention the file"
    shown = said(capsys)
    assert "rebuilt: _log/" in shown and f"rebuilt: {state.relative_to(place / 'w')}" in shown
    assert "only earlier versions need it" in shown
    assert Warehouse(None, place / "w").view("spend").rows() == [("[b]", 5)]
    assert main(["compact", "--keep", "1", "--hours", "0", "--warehouse", str(place / "w")]) == FINE
    assert main(at) == FINE
    table = place / "w" / min(tables)
    table.unlink()
    capsys.readouterr()
    assert main([*at, "--repair"]) == FAILED
    assert "segment of table orders" in said(capsys)


def test_functions_and_folders_are_the_users_word(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "rules_of_mine.py").write_text("def score(n: int) -> int:\n    return n\n")
    (place / "p.toml").write_text(
        "warehouse = 'w'\nfunctions = ['rules_of_mine']\npublish_to = ['.']\n[views.spend]\npublish = 'out'\n"
    )
    assert main(["run", str(place / "p.sql")]) == FINE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = ["history", "--warehouse", str(place / "w"), "--publish-to", str(place)]
        assert main([*again, "--functions", "math:gcd", "--functions", "math"]) == FINE
    capsys.readouterr()
    for word in ("no_such_module_here", "math:nothing"):
        assert main([*again, "--functions", word]) == FAILED
        assert word in capsys.readouterr().err


def test_tables_in_logs_are_as_wide_as_they_need(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not on a terminal, a line of a table is one line of the log."""
    monkeypatch.delenv("COLUMNS", raising=False)
    batch = "a batch with a rather long name " * 5
    main(["run", str(place / "p.sql")])
    Warehouse(None, place / "w").apply(
        {"orders": [{"_change_type": "insert", "id": 1, "customer": "a", "total": 1}]}, batch=batch
    )
    said(capsys)
    assert main(["history", "--warehouse", str(place / "w")]) == FINE
    assert batch.strip() in said(capsys)


def test_errors_of_others_are_one_line(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from py4j.protocol import Py4JError

    main(["run", str(place / "p.sql")])
    for problem, shown in (
        (
            FileNotFoundError(2, "No such file or directory", "/lake/x"),
            "error: /lake/x: No such file or directory",
        ),
        (Py4JError("An error occurred\nat java"), "error: Spark failed: An error occurred"),
    ):

        def failing(*given: object, problem: Exception = problem) -> None:
            raise problem

        with monkeypatch.context() as patched:
            patched.setattr(private_session, "local_session", failing)
            assert main(["history", "--warehouse", str(place / "w")]) == FAILED
        assert capsys.readouterr().err.strip() == shown


def test_a_file_and_a_warehouse_are_served(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until somebody stops them; here, after one request."""
    answers: list[object] = []

    def ask(server: Server) -> None:
        answers.append(httpx.get(f"{server.url}/views/spend").json()["rows"])
        answers.append(httpx.post(f"{server.url}/execute", json={"sql": "DELETE FROM orders"}).status_code)
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "wait", ask)
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    with closing(ec.connect(tmp_path / "shop.db")) as db:
        db.execute(PIPELINE)
        db.table("orders").insert((1, "ann", 5))
    assert main(["serve", str(tmp_path / "shop.db"), "--read-only"]) == FINE
    assert main(["studio", str(tmp_path / "shop.db"), "--no-browser"]) == FINE
    assert answers == [[{"customer": "ann", "total": 5}], 409, [{"customer": "ann", "total": 5}], 200]
    assert "/studio/ (Ctrl-C stops it)" in said(capsys) and not opened
    assert main(["run", str(place / "p.sql")]) == FINE
    assert main(["studio", "--warehouse", str(place / "w")]) == FINE
    assert answers[-2:] == [[], 200] and opened[0].endswith("/studio/")
    assert main(["serve", str(tmp_path / "nothing.db")]) == FAILED
    assert main(["serve", str(place / "w")]) == FAILED
    assert "--warehouse" in capsys.readouterr().err
