"""What `explain` says of opaque functions: where they stand, why they are opaque, and what to do about it.

list(opaque_notes(plan))      lines for the summary; none if the plan calls no opaque function
"""

from __future__ import annotations

from collections.abc import Iterator

from evercurrent.algebra.nodes import Plan
from evercurrent.algebra.walk import nodes as plan_nodes
from evercurrent.algebra.walk import terms_of
from evercurrent.term.nodes import Apply, Opaque
from evercurrent.term.show import show
from evercurrent.term.walk import nodes


def opaque_notes(plan: Plan) -> Iterator[str]:
    """A line or two for each opaque function of a plan."""
    seen: dict[Opaque, Apply] = {}
    for part in plan_nodes(plan):
        for term in terms_of(part):
            for node in nodes(term):
                if isinstance(node, Apply):
                    seen.setdefault(node.function, node)
    if not seen:
        return
    yield "  opaque"
    for opaque, applied in seen.items():
        args = ", ".join(show(a) for a in applied.args)
        shown = args if len(args) <= 60 else args[:57] + "..."
        yield f"    {opaque.name}({shown}) {applied.type}: called once for each inserted or deleted row"
        yield f"      because {opaque.reason}; {suggestion(opaque.reason)}"


def suggestion(reason: str) -> str:
    """What would let the compiler look inside."""
    if reason.startswith("Python's own"):
        return "nothing need be done"
    if "declared opaque" in reason:
        return "without @ec.opaque it would be looked into"
    if "source cannot be found" in reason:
        return "define it in a file"
    if "statement" in reason:
        return (
            "write it as expressions and `if ... return`, and conditions and joins can use what it computes"
        )
    return "write it with operators on its arguments, and conditions and joins can use what it computes"
