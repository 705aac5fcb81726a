"""What the matrix draws: every function, aggregate and window function of the product's own tables, with example arguments.

The examples are those that Spark is asked about (`tests/unit/term`), so a function without examples fails at once:

    items()["add"][0].types              (INT, INT)
    items()["add"][0].rows               ((1, 2), (7, -2), ...)     inside values for which the call does not fail
    items()["add"][0].text(("x.a", "x.b"))   '(x.a) + (x.b)'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from evercurrent.data.types import BIGINT, Array, Interval, Map, Null, Struct, Type
from evercurrent.errors import EvercurrentError
from evercurrent.frontend.sql.functions import WINDOW_ONLY
from evercurrent.term.aggregates import TABLE
from evercurrent.term.build import call, lambda_parameters
from evercurrent.term.evaluate import Environment, evaluate
from evercurrent.term.function_table import FUNCTIONS
from evercurrent.term.functions.numbers.bounds import BOUNDS
from evercurrent.term.functions.numbers.ordered_reads import READS
from evercurrent.term.functions.numbers.ring import RING
from evercurrent.term.nodes import Column, Lambda, Term, Variable
from tests.unit.term.asking_spark import spelled, sql, term
from tests.unit.term.spark_cases import CASES
from tests.unit.term.test_aggregates_against_spark import CALLS, GROUPS, our_answer
from tests.unit.term.test_functions_against_spark import LAMBDAS

Values = tuple[Any, ...]
Kind = str
"""'scalar', 'aggregate' or 'window'."""


@dataclass(frozen=True)
class Item:
    """One way to call something. `types` are those of the operands that are columns, `rows` values for them.

    `write` makes SQL of the operands; `meaning` is the term over columns `c0, c1, ...`, where there is one.
    """

    name: str
    kind: Kind
    types: tuple[Type, ...]
    rows: tuple[Values, ...]
    result: Type
    write: Callable[[Sequence[str]], str]
    meaning: Term | None = None

    def holds(self, values: Values) -> bool:
        """Whether the call does not fail for these values."""
        if self.meaning is None:
            return True
        try:
            evaluate(self.meaning, Environment({f"c{i}": v for i, v in enumerate(values)}))
        except EvercurrentError:
            return False
        return True


def storable(t: Type) -> bool:
    """Whether a column of a table can have the type."""
    match t:
        case Null() | Interval():
            return False
        case Array(element):
            return storable(element)
        case Map(key, value):
            return storable(key) and storable(value)
        case Struct(members):
            return all(storable(m.type) for m in members)
        case _:
            return True


@cache
def items() -> dict[str, tuple[Item, ...]]:
    """All items by name; fails where the product has a function without examples."""
    found: dict[str, tuple[Item, ...]] = {}
    for name in sorted(set(FUNCTIONS) - {f.name for f in (*RING, *BOUNDS, *READS)}):
        lambdas = [
            x for text, n, plain, fs in LAMBDAS if n == name for x in _of_lambda(name, text, plain, fs)
        ]
        found[name] = (*_of_function(name), *lambdas)
    for name in sorted(set(TABLE) - {"monoid"}):
        found[f"{name}()"] = tuple(_of_aggregate(name))
    for name in sorted(WINDOW_ONLY):
        found[f"{name}() over"] = tuple(_of_window(name))
    without = [name for name, some in found.items() if not some]
    assert not without, f"no example arguments that can be columns: {', '.join(without)}"
    return found


# --- functions ---------------------------------------------------------------------------------------------


def _of_function(name: str) -> list[Item]:
    groups: dict[tuple[Type, ...], list[tuple[tuple[Any, ...], list[Any]]]] = {}
    for args in CASES.get(name, ()):
        try:
            terms = [term(a) for a in args]
            values = [evaluate(t, Environment()) for t in terms]
        except EvercurrentError:
            continue
        groups.setdefault(tuple(t.type for t in terms), []).append((args, values))
    made = [item for types, examples in groups.items() if (item := _typed(name, types, examples)) is not None]
    return sorted(made, key=lambda item: -len(item.rows))[:4]


CONSTANT = {("like", 2), ("ilike", 2), ("from_json", 1)}
"""Operands that SQL writes as constants only, by function and position."""


def _typed(
    name: str, types: tuple[Type, ...], examples: list[tuple[tuple[Any, ...], list[Any]]]
) -> Item | None:
    """The call with as many columns as the function takes; the other operands are constants."""
    n = len(types)
    can = [i for i in range(n) if storable(types[i]) and (name, i) not in CONSTANT]
    for columns in (can, *([i for i in can if i != j] for j in reversed(can)), can[:1], []):
        for args, _ in examples:
            own = [
                Column(f"c{columns.index(i)}", types[i], True) if i in columns else term(args[i])
                for i in range(n)
            ]
            try:
                meaning = call(name, *own)
            except EvercurrentError:
                continue
            fixed = {i: args[i] for i in range(n) if i not in columns}
            texts = {i: sql(a) for i, a in fixed.items()}
            if name in ("timestampadd", "timestampdiff") and 0 in columns:
                continue
            if name in ("timestampadd", "timestampdiff"):
                texts[0] = str(args[0])
            rows = [
                tuple(v[i] for i in columns)
                for a, v in examples
                if all(_same(a[i], x) for i, x in fixed.items())
            ]
            item = Item(
                name,
                "scalar",
                tuple(types[i] for i in columns),
                (),
                meaning.type,
                _writer(name, n, columns, texts),
                meaning,
            )
            good = tuple(row for row in rows if item.holds(row))
            if good:
                return Item(name, "scalar", item.types, good, item.result, item.write, meaning)
    return None


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def _writer(
    name: str, n: int, columns: Sequence[int], texts: dict[int, str]
) -> Callable[[Sequence[str]], str]:
    def write(operands: Sequence[str]) -> str:
        given = dict(zip(columns, operands, strict=True))
        return f"({spelled(name, [given[i] if i in given else texts[i] for i in range(n)])})"

    return write


def _of_lambda(name: str, text: str, plain: list[Any], lambdas: list[tuple[int, Any]]) -> list[Item]:
    values = [evaluate(term(a), Environment()) for a in plain]
    args: list[Term] = [Column(f"c{i}", term(a).type, True) for i, a in enumerate(plain)]
    types = tuple(a.type for a in args)
    for count, body in lambdas:
        bound = lambda_parameters(name, len(args), count, args)
        parameters = tuple(Variable(f"p{i}", t, True) for i, t in enumerate(bound))
        inner = body(*parameters)
        args.append(Lambda(parameters, inner, inner.type))
    try:
        meaning = call(name, *args)
    except EvercurrentError:
        return []
    shorter = [tuple(v[:1] if isinstance(v, tuple) else v for v in values), tuple(values)]
    item = Item(name, "scalar", types, (), meaning.type, lambda operands: text.format(*operands), meaning)
    good = tuple(row for row in shorter if item.holds(row))
    return [Item(name, "scalar", types, good, meaning.type, item.write, meaning)] if good else []


# --- aggregates and windows --------------------------------------------------------------------------------

EDGES = [(f, f"{f}(a)", False, (0,), (), ()) for f in ("first", "last", "any_value")]


def _of_aggregate(name: str) -> list[Item]:
    made = []
    for call_ in [*CALLS, *EDGES]:
        if call_[0] != name or "array_sort(collect" in call_[1]:
            continue
        for types, rows in GROUPS.values():
            answer = our_answer(call_, types, rows)
            if answer.error is None and answer.type is not None and rows and all(map(storable, types)):
                made.append(_aggregate(name, call_[1], types, rows, answer.type))
    if name in ("collect_list", "collect_set"):
        types, rows = GROUPS["ints"]
        made.append(_aggregate(name, f"{name}(a)", types, rows, Array(types[0])))
    return made


def _aggregate(name: str, text: str, types: Any, rows: Any, result: Type) -> Item:
    from tests.unit.term.test_aggregates_against_spark import _cell

    inside = tuple(tuple(_cell(v, t) for v, t in zip(row, types, strict=True)) for row in rows)

    def write(operands: Sequence[str]) -> str:
        return re.sub(r"\b[ab]\b", lambda m: operands["ab".index(m.group())], text)

    return Item(f"{name}()", "aggregate", types, inside, result, write)


WINDOWS = {
    "row_number": "row_number()",
    "rank": "rank()",
    "dense_rank": "dense_rank()",
    "ntile": "ntile(2)",
    "percent_rank": "percent_rank()",
    "cume_dist": "cume_dist()",
    "lag": "lag({0})",
    "lead": "lead({0}, 2, {0})",
    "nth_value": "nth_value({0}, 2)",
}


def _of_window(name: str) -> list[Item]:
    text = WINDOWS.get(name)
    if text is None:
        return []
    rows = tuple((v,) for v in (3, None, -1, 3, 8))

    def write(operands: Sequence[str]) -> str:
        return f"{text.format(*operands)} OVER (PARTITION BY x.g ORDER BY {operands[0]}, x.id)"

    return [Item(f"{name}() over", "window", (BIGINT,), rows, BIGINT, write)]
