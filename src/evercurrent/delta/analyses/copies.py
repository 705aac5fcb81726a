"""Rules that add the delta of a relation to a state as it is.

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.nodes import Column
>>> a, w = Column("a", INT), Column("w", INT)
>>> is_copy(Rule("t", (a,), w, (), "s", (a,), w)), is_copy(Rule("t", (a,), w, (), "s", (), w))
(True, False)
"""

from __future__ import annotations

from evercurrent.delta.program import Rule


def is_copy(rule: Rule) -> bool:
    """Whether the rule adds the delta as it is: then its segment serves the state too."""
    return (
        not rule.steps
        and not rule.amounts
        and not rule.dependents
        and rule.count == rule.weight
        and rule.columns == rule.binds
    )
