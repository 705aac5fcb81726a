"""From the calculus to the algebra.

Law. `lower(q)` has the rows of `q`: the i-th column is the i-th field. No query is left inside a term: every nested
query, correlated or not, wherever it stands, has become joins, semi joins and groups. How is said in `lowering`.

    bag{ (o.id) | o <- orders, exists bag{ () | l <- items, l.order = o.id } }

    Map id: o.id
      Semi o.id = l.order
        Scan orders
        Scan items
"""

from __future__ import annotations

from evercurrent.algebra import build
from evercurrent.algebra.lowering.correlate import Context
from evercurrent.algebra.lowering.extend import extend
from evercurrent.algebra.nodes import Plan
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.scope import Names, rename_apart
from evercurrent.catalog.catalog import Catalog, Knowledge
from evercurrent.term.nodes import Column
from evercurrent.term.nullable import nullable


def lower(query: Query, knowledge: Knowledge | None = None) -> Plan:
    """The plan of a query that depends on nothing outside it.

    With knowledge of keys, a scalar query that can have only one row for each outer row needs no check that it has.
    """
    variables = Names()
    query = rename_apart(query, variables)
    context = Context(variables, Catalog() if knowledge is None else knowledge)
    names = [context.columns.fresh(field.name) for field in query.fields]  # first, so that they are free
    plan, terms = extend(build.UNIT, query, context)
    outputs = [
        (Column(name, field.type, nullable(term)), term)
        for name, field, term in zip(names, query.fields, terms, strict=True)
    ]
    return build.project(plan, outputs)
