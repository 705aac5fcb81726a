"""The syntax of a function, found in the file that it stands in.

A lambda has no name and may share its line with others: it is recognised by the place of its body, which compiled code
keeps. The whole file is read, because the lines of a lambda in the middle of a call are no program.

    adult, minor = lambda s: s.age >= 18, lambda s: s.age < 18
    locate(minor).node                                            # the syntax of `lambda s: s.age < 18`
"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from evercurrent.source import Place

Function = ast.Lambda | ast.FunctionDef


@dataclass(frozen=True)
class Located:
    """A function's syntax and the text that it stands in."""

    node: Function
    text: str

    def place(self, node: ast.AST | None) -> Place | None:
        """Where a part of it stands."""
        at = node if isinstance(node, ast.expr | ast.stmt) else self.node
        starts = _line_starts(self.text)
        begin = starts[at.lineno - 1] + _characters(self.text, starts, at.lineno, at.col_offset)
        end_line, end_column = at.end_lineno or at.lineno, at.end_col_offset or at.col_offset
        if end_line != at.lineno:
            return Place(self.text, begin, max(begin + 1, starts[at.lineno] - 1))
        return Place(
            self.text, begin, starts[end_line - 1] + _characters(self.text, starts, end_line, end_column)
        )


def locate(function: Any) -> Located | None:
    """The syntax of a plain Python function; None if its source cannot be found."""
    if not isinstance(function, FunctionType):
        return None
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        return None
    text = "".join(lines)
    found = _functions(text)
    if found is None:
        return None
    matching = [node for node in found if _is(node, code) and _says(node, code)]
    return Located(matching[0], text) if len(matching) == 1 else None


@lru_cache(maxsize=64)
def _functions(text: str) -> tuple[Function, ...] | None:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    return tuple(n for n in ast.walk(tree) if isinstance(n, ast.Lambda | ast.FunctionDef))


def _is(node: Function, code: CodeType) -> bool:
    """Whether this code was compiled from this syntax: its parameters, its first line and the places of its body."""
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    if tuple(names) != code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return False
    if isinstance(node, ast.FunctionDef):
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        return node.name == code.co_name and first == code.co_firstlineno
    if code.co_name != "<lambda>":
        return False
    places = [p for p in code.co_positions() if None not in p and p[2] != p[3]]
    body = node.body
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    inside = [((p[0], p[2]), (p[1], p[3])) for p in places]
    if not inside:
        return code.co_firstlineno == node.lineno
    # The outermost place of the code is the body itself.
    return min(i[0] for i in inside) == begin and max(i[1] for i in inside) == end


def _says(node: Function, code: CodeType) -> bool:
    """Whether the syntax has the names and constants of the code: the file may have changed since it was read."""
    module = compile(ast.fix_missing_locations(ast.Module([_statement(node)], [])), "<source>", "exec")
    again = next((c for c in module.co_consts if isinstance(c, CodeType)), None)
    return again is not None and _words(again) == _words(code)


def _statement(node: Function) -> ast.stmt:
    if isinstance(node, ast.Lambda):
        return ast.Expr(node, lineno=1, col_offset=0)
    bare = ast.FunctionDef(node.name, node.args, node.body, [], None, None, lineno=1, col_offset=0)
    empty = ast.arguments(
        node.args.posonlyargs, node.args.args, node.args.vararg, node.args.kwonlyargs, [], node.args.kwarg, []
    )
    bare.args = ast.arguments(
        [ast.arg(a.arg) for a in empty.posonlyargs],
        [ast.arg(a.arg) for a in empty.args],
        None if empty.vararg is None else ast.arg(empty.vararg.arg),
        [ast.arg(a.arg) for a in empty.kwonlyargs],
        [None for _ in empty.kwonlyargs],
        None if empty.kwarg is None else ast.arg(empty.kwarg.arg),
        [],
    )
    return bare


def _words(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    names = frozenset((*code.co_names, *code.co_freevars, *code.co_varnames, *code.co_cellvars))
    constants = frozenset(repr(c) for c in code.co_consts if not isinstance(c, CodeType))
    return names - {"__class__"}, constants


@lru_cache(maxsize=16)
def _line_starts(text: str) -> tuple[int, ...]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return tuple(starts)


def _characters(text: str, starts: tuple[int, ...], line: int, column: int) -> int:
    """Python counts columns in bytes of UTF-8."""
    whole = text[starts[line - 1] : starts[line] if line < len(starts) else len(text)]
    return len(whole.encode()[:column].decode(errors="ignore"))
