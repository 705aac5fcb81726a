"""The examples of docs/postgres.md, run against the server."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.postgres.cluster import Cluster

pytestmark = pytest.mark.postgres

PAGE = Path(__file__).resolve().parents[2] / "docs" / "postgres.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_examples_run(server: Cluster, tmp_path: Path) -> None:
    server.execute("CREATE TABLE orders (id bigint PRIMARY KEY, customer text, total numeric(12,2))")
    server.execute("INSERT INTO orders VALUES (1, 'Ann', 9.5), (2, 'Ann', 3)")
    names = {
        "folder": tmp_path,
        "address": server.address,
        "run_in_postgres": lambda text: server.execute(text) or None,
    }
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), names, PAGE.name, str(PAGE), 0)
    problems: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(
        example, out=problems.append, clear_globs=False
    )
    example.globs["db"].close()
    assert not problems, "\n".join(problems)
