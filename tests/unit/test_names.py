"""A function's name is a verb phrase, or a noun for what it returns: never a participle, nor does it begin with one.

`settled`, `kept` and `told` say neither what a function does nor what it returns. Properties and predicates are free.
So is a context manager that is named by what happens in its block, like `contextlib.closing`, and so is a function that
builds an error (`closed_error`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "src" / "evercurrent"

IRREGULAR = """
    begun bound bought broken brought built caught chosen done drawn fallen fed forgotten found frozen given gone grown
    heard held hidden kept known laid learnt left lent lost made meant met outgrown paid rebuilt remade rewritten said
    seen sent shown sold spent spoken stood taken taught thought thrown told withdrawn won written
"""
VERBS_NOUNS_AND_ADJECTIVES = """
    beginning bring ceiling embed exceed feed grouping listing mapping meaning missing need nothing pending proceed
    ranking reading ring seed setting settings shred speed spelling string substring succeed thing
"""
BLOCKS = frozenset({"_changing", "changing", "defining", "previewing", "tidying"})


def is_participle(word: str) -> bool:
    regular = word.endswith(("ed", "ing")) and word not in VERBS_NOUNS_AND_ADJECTIVES.split()
    return regular or word in IRREGULAR.split()


def is_allowed(name: str) -> bool:
    free = name.startswith("__") or name.endswith("_error") or name == "left_join" or name in BLOCKS
    return free or not is_participle(name.strip("_").split("_")[0])


def functions(tree: ast.AST) -> Iterator[str]:
    """The functions of a module that are no properties."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = [ast.unparse(d) for d in node.decorator_list]
            if not any("property" in d or d.endswith("setter") for d in decorators):
                yield node.name


@pytest.mark.parametrize("name", ["settled", "_kept", "told_as_ours", "lent_tables", "moving"])
def test_participles_are_found(name: str) -> None:
    assert not is_allowed(name)


@pytest.mark.parametrize("name", ["settle", "find_kept", "left_join", "string_of", "is_lent", "pending_rows"])
def test_verbs_and_nouns_are_free(name: str) -> None:
    assert is_allowed(name)


def test_no_function_is_named_by_a_participle() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {name}"
        for path in sorted(ROOT.rglob("*.py"))
        for name in functions(ast.parse(path.read_text(encoding="utf-8")))
        if not is_allowed(name)
    }
    assert found == set()
