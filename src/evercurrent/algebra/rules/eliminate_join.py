"""Drops a join along a foreign key of which only the referring side is read.

Law. πA(A ⋈ a=k P) = A, if a refers to the key k of the whole relation P, a is never NULL, and no column of P is read
besides k (for which a can stand).

    SELECT c.k FROM c JOIN p ON c.o = p.id, c.o referring to p.id      SELECT c.k FROM c
"""

from __future__ import annotations

from evercurrent.algebra import keys
from evercurrent.algebra.joins import equal_columns, names
from evercurrent.algebra.nodes import Join, Plan, Scan, Select, Semi
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjuncts
from evercurrent.term.nodes import Column


def drop_unneeded_join(plan: Join, needed: set[str], knowledge: Knowledge) -> Plan | None:
    """The side that alone serves those who read only the needed columns, if one does."""
    for side, parent in ((plan.left, plan.right), (plan.right, plan.left)):
        if isinstance(parent, Scan) and not needed & names(parent):
            if _refers(side, parent, plan, knowledge):
                return side
    return None


def _refers(side: Plan, parent: Scan, plan: Join, knowledge: Knowledge) -> bool:
    """Whether every row of the side finds exactly one row of the parent, and the condition asks no more than that."""
    pairs: dict[str, Column] = {}
    own = {c.name: f for c, f in zip(parent.outputs, parent.fields, strict=True)}
    for a, b in equal_columns(conjuncts(plan.condition)):
        if b.name in own:
            pairs[own[b.name]] = a
        elif a.name in own:
            pairs[own[a.name]] = b
    if len(pairs) != len(conjuncts(plan.condition)) or not pairs:
        return False
    certain = keys.not_null(side, knowledge)
    if not {c.name for c in pairs.values()} <= certain:
        return False
    for scan in _find_scans(side):
        where = dict(zip(scan.fields, (c.name for c in scan.outputs), strict=True))
        for reference in knowledge.references_of(scan.relation):
            if reference.parent.lower() != parent.relation.lower():
                continue
            wanted = dict(zip(reference.parent_columns, reference.columns, strict=True))
            if set(wanted) == set(pairs) and all(
                where.get(wanted[field]) == column.name for field, column in pairs.items()
            ):
                return True
    return False


def _find_scans(plan: Plan) -> list[Scan]:
    """The scans whose columns reach the top of the plan as they are."""
    match plan:
        case Scan():
            return [plan]
        case Select(source):
            return _find_scans(source)
        case Join(left, right):
            return _find_scans(left) + _find_scans(right)
        case Semi(left):
            return _find_scans(left)
        case _:
            return []
