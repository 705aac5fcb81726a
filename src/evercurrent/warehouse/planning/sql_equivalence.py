"""What Spark's own SQL says exactly as it is meant here, so that Spark may compute a view that is recomputed.

A view must be the same whichever way it was brought up to date. Spark leaves some results to the order in which rows happen
to come; here they depend on the data alone. So of a plan it is asked

    aggregates     that do not depend on any order: counts, extremes, and sums and averages that are exact in Spark too
    windows        whose result does not depend on the order of ties, or whose order has none
    the first rows ties are settled by the columns of the result: `total_order` writes that into the text
    functions      of numbers that both compute to the last bit, and no text of a float; none of a user's
    names          without a point: Spark would look for `a.b` in its own catalog, or take it for a file
    recursion      never: Spark's has a limit of its own, and no UNION
    grouping sets  never: over no rows Spark has no total row

and whatever else is written in SQL has Spark's meaning anyway. The answer is a reason why not, or nothing. The text is that of
the definition, with its constants written so that no setting changes them (`frontend.sql.spark_text`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from evercurrent.algebra import walk
from evercurrent.algebra.keys import at_most_one
from evercurrent.algebra.nodes import (
    Aggregate,
    Constant,
    Distinct,
    Fixpoint,
    Join,
    Map,
    Outer,
    Plan,
    Scan,
    Select,
    Semi,
    SetOperation,
    Top,
    Union,
    Unnest,
    Window,
)
from evercurrent.catalog.catalog import Catalog, Knowledge
from evercurrent.catalog.dependencies import base_tables
from evercurrent.catalog.nodes import View
from evercurrent.data.types import Decimal, Float, String, contains_float
from evercurrent.data.types import Map as MapType
from evercurrent.design.compile import Design
from evercurrent.frontend.sql.spark_text import has_grouping_sets, total_order
from evercurrent.term import walk as terms
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Apply, Call, Cast, Column, Term, WindowFunction

ANY_ORDER = frozenset(
    {"count", "count_if", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor"}
)
"""Aggregates that no order of rows and no rounding can change."""
TIES_ALIKE = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})
"""Window functions that give rows with equal sort keys the same value."""
ROUNDED = frozenset(
    [
        "cbrt",
        "exp",
        "expm1",
        "ln",
        "log",
        "log2",
        "log10",
        "log1p",
        "power",
        "hypot",
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "degrees",
        "radians",
    ]
)
"""Functions whose last bit is the library's affair."""


@dataclass(frozen=True)
class Saying:
    """The text of a view for Spark, or why there is none; and how often it reads each table (lower-cased names)."""

    text: str | None
    reason: str = ""
    scans: Mapping[str, int] = field(default_factory=dict)


def sayings(views: Iterable[View], design: Design, knowledge: Catalog) -> dict[str, Saying]:
    """Of each view, by name, what Spark may be asked for; `views` are in order, each after those that it reads."""
    found: dict[str, Saying] = {}
    for view in views:
        found[view.name] = find_spelling(view, design, knowledge, found)
    return found


def find_spelling(view: View, design: Design, knowledge: Catalog, below: Mapping[str, Saying]) -> Saying:
    if view.language == "spark":
        text = total_order(view.text, len(view.fields))
        tables = base_tables(knowledge, frozenset({view.name}))
        return Saying(text, scans=Counter(dict.fromkeys(tables, 1)))
    if view.language != "sql" or knowledge.schema:
        return Saying(None, "it is not written in Spark's SQL")
    stages = design.stages.get(view.name)
    if stages is None:
        return Saying(None, "it has no plan")
    for name in view.uses:
        if "." in name:
            return Saying(None, f"Spark would look for {name} in its own catalog")
        lower = knowledge.view(name)
        if lower is not None and below[lower.name].text is None:
            return Saying(None, f"it reads {lower.name}: {below[lower.name].reason}")
    why = unsayable(stages.algebra, knowledge)
    if why is not None:
        return Saying(None, why)
    if has_grouping_sets(view.text):
        return Saying(None, "Spark's CUBE, ROLLUP and GROUPING SETS have no total row over no rows")
    text = total_order(view.text, len(view.fields))
    if text is None:
        return Saying(None, "it takes the first rows of columns it does not name")
    return Saying(text, scans=scans(stages.algebra, knowledge, below))


def scans(plan: Plan, knowledge: Catalog, below: Mapping[str, Saying]) -> Counter[str]:
    """Returns how often a plan reads each table, directly and through views."""
    found: Counter[str] = Counter()
    for node in walk.nodes(plan):
        if isinstance(node, Scan):
            view = knowledge.view(node.relation)
            found.update({node.relation.lower(): 1} if view is None else below[view.name].scans)
    return found


def unsayable(plan: Plan, knowledge: Knowledge) -> str | None:
    """Why a plan is not left to Spark's SQL; None if it can be."""
    return next(reasons(plan, knowledge), None)


def reasons(plan: Plan, knowledge: Knowledge) -> Iterator[str]:
    for p in walk.nodes(plan):
        for term in walk.terms_of(p):
            yield from of_term(term)
        match p:
            case Aggregate(aggregates=aggregates):
                for _, a in aggregates:
                    if not exact(a):
                        yield f"Spark's {a.function} may depend on the order of rows"
            case Window(source, functions):
                for _, f in functions:
                    if not is_settled(source, f, knowledge):
                        yield f"Spark's {f.function} may depend on the order of ties"
            case Unnest(collection=collection, ordinal=True) if isinstance(collection.type, MapType):
                yield "the order of a map's entries is not Spark's"
            case Fixpoint():
                yield "Spark's recursion has limits of its own"
            case Scan() | Constant() | Select() | Map() | Join() | Outer() | Semi() | Unnest():
                pass
            case Union() | Distinct() | SetOperation() | Top():
                pass
            case _:
                assert_never(p)


def of_term(term: Term) -> Iterator[str]:
    for t in terms.nodes(term):
        if isinstance(t, Apply):
            yield f"{t.function.name} is a function that Spark does not know"
        elif isinstance(t, Call) and t.function in ROUNDED:
            yield f"Spark's {t.function} may differ in the last bit"
        elif shows_sign(t):
            yield "Spark writes the sign of a zero"


def shows_sign(t: Term) -> bool:
    """Whether a text is made of a float: Spark's would be `-0.0` where there is but one zero here."""
    texts = (
        (t.of.type,) if isinstance(t, Cast) else tuple(a.type for a in t.args) if isinstance(t, Call) else ()
    )
    return isinstance(t.type, String) and any(map(contains_float, texts))


def exact(a: AggregateTerm | WindowFunction) -> bool:
    """Whether Spark's result depends on nothing but the values, to the last bit."""
    if any(isinstance(x.type, Float) for x in a.args) or a.options:
        return False
    if a.function == "sum":
        return True
    if a.function == "avg":  # that of integers is made of a sum of floats
        return all(isinstance(x.type, Decimal) for x in a.args)
    return a.function in ANY_ORDER


def is_settled(source: Plan, f: WindowFunction, knowledge: Knowledge) -> bool:
    """Whether a window function returns the same whatever the order of ties, or there are no ties."""
    if f.function in TIES_ALIKE:
        return True
    if exact(f) and f.frame.kind == "range":
        return True
    # Where values are taken from neighbours, ties are settled here by these values, which the text does not say.
    order = [k.term for k in f.order if k.term not in f.args]
    given = [t for t in (*f.partition, *order) if isinstance(t, Column)]
    return (exact(f) or f.function in TIE_BOUND) and at_most_one(source, knowledge, given)


TIE_BOUND = frozenset(
    {"row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value", "first", "last"}
)
"""Window functions that are determined where the order is."""
