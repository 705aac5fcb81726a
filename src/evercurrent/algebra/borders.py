"""Maps that apply opaque functions are borders: nothing crosses them that would call a function more often.

Law. A border is applied to the rows that reach it where it is written. Its computed columns are read, never written out
elsewhere; selections stay on their side of it; it is not moved above what multiplies rows or brings rows back; and it is
not narrowed, so that all who read it read the same one.

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.nodes import Apply, Opaque
>>> n, score = Column("n", INT), Column("score", INT)
>>> outputs = ((n, n), (score, Apply(Opaque(len, "len"), (n,), INT)))
>>> is_border(outputs), sorted(find_opaque_columns(outputs))
(True, ['score'])
"""

from __future__ import annotations

from evercurrent.algebra.nodes import Map, Plan
from evercurrent.algebra.walk import nodes
from evercurrent.term.nodes import Column, Term
from evercurrent.term.opaque import is_opaque

Outputs = tuple[tuple[Column, Term], ...]


def is_border(outputs: Outputs) -> bool:
    """Whether a map with these outputs applies an opaque function."""
    return any(is_opaque(t) for _, t in outputs)


def has_border(plan: Plan) -> bool:
    """Whether a map somewhere in the plan does."""
    return any(isinstance(p, Map) and is_border(p.outputs) for p in nodes(plan))


def find_opaque_columns(outputs: Outputs) -> frozenset[str]:
    """The columns that are values of opaque functions."""
    return frozenset(c.name for c, t in outputs if is_opaque(t))
