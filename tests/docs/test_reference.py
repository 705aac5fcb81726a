"""The reference cannot go stale: its pages are what the code would write now, and nothing that the code has is missing.

If a test here fails: describe what is new in `tools/reference/entries`, run `make reference`, and commit the pages.
"""

from __future__ import annotations

import pytest

import evercurrent as ec
from evercurrent.frontend.oql.calls import FUNCTIONS
from evercurrent.term import aggregates, function_table
from tools.reference import api, functions, options, oql, statements, types
from tools.reference.engine import entries, evaluate
from tools.reference.pages import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_code_would_write(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "run `make reference`"


def test_no_page_is_left_over() -> None:
    assert {p.name for p in FOLDER.glob("*.md")} == set(PAGES)


def test_every_function_has_an_entry_and_every_entry_a_function() -> None:
    assert functions.names_in("functions.txt") == functions.scalar_names()
    assert functions.names_in("aggregates.txt") == functions.aggregate_names()
    assert functions.names_in("windows.txt") - {"any"} == functions.window_names()


@pytest.mark.parametrize("file", ["functions.txt", "aggregates.txt", "windows.txt"])
def test_the_example_of_a_function_calls_it(file: str) -> None:
    strangers = [
        e.form
        for e in entries(file)
        for name in functions.CALL.findall(e.form)[:1]
        if f"{name}(" not in e.example
    ]
    assert strangers == []


def test_other_names_are_names_of_functions() -> None:
    assert set(functions.other_names(function_table.ALIASES)) <= functions.scalar_names() | {"eqns"} | {
        name for name in function_table.FUNCTIONS if name in functions.INTERNAL
    }
    assert set(functions.other_names(aggregates.ALIASES)) <= functions.aggregate_names()


def test_every_kind_of_statement_and_type_is_shown() -> None:
    assert statements.kinds_shown() == statements.kinds()
    assert types.kinds_shown() == types.kinds()


def test_every_construct_of_oql_is_shown() -> None:
    assert oql.rules() - oql.rules_shown() == set()
    assert set(FUNCTIONS) - oql.functions_shown() == set()


def test_every_option_has_a_meaning_and_every_meaning_an_option() -> None:
    known = {(option, value) for option, values in options.VIEW_OPTIONS.items() for value in values}
    assert set(options.VIEW_MEANINGS) == known


def test_every_public_name_is_shown() -> None:
    assert api.names_shown() == set(ec.__all__)


def test_an_example_that_fails_is_found() -> None:
    with pytest.raises(ec.QueryError):
        evaluate("no_such_function(1)", "SELECT {}")
