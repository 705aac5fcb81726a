"""The public names of the package, by topic: Sphinx reads their docstrings."""

from __future__ import annotations

import inspect

import evercurrent as ec
from tools.reference.engine import NOTICE

TOPICS: dict[str, tuple[str, ...]] = {
    "Databases": ("connect", "Database", "Transaction", "AnyDatabase"),
    "Tables, views, results": ("Table", "View", "LiveView", "Result", "Record", "Feed"),
    "Changes": ("Change", "Subscription", "ChangeStream"),
    "Reports": ("Report", "Stats"),
    "Objects": ("Entity", "Object", "Extent", "Inverse", "empty", "operation", "Bag", "Set"),
    "Queries in Python": (
        "Query",
        "Grouped",
        "Joined",
        "Joined3",
        "JoinedMany",
        "Rows",
        "TableOf",
        "AnyQuery",
        "Monoid",
        "asc",
        "call",
        "desc",
        "is_none",
        "isin",
        "length",
        "monoid",
        "opaque",
        "recursive",
        "row",
        "select",
        "text",
        "when",
    ),
    "Warnings": ("CostWarning", "MissingFunctionWarning", "QuotedNameWarning", "SubscriberWarning"),
}

RETURNED = (
    "evercurrent.warehouse.database.Warehouse",
    "evercurrent.statements.run_record.RunRecord",
    "evercurrent.design.explain.Explanation",
    "evercurrent.design.why.Why",
    "evercurrent.serve.server.Server",
)
"""Classes that methods return."""

ONLY = {"Transaction": "rollback"}
"""Of these classes only these members are for users."""


def names_shown() -> set[str]:
    """The names that this page shows, and those that other pages do: errors and constants."""
    errors = {n for n in ec.__all__ if n.endswith("Error")}
    return {name for names in TOPICS.values() for name in names} | errors | {"UNDEFINED", "__version__"}


def api_page() -> str:
    page = [
        "# Python API",
        "",
        NOTICE,
        "",
        "Everything here is a name of the package: `import evercurrent as ec`. Exceptions have [a page of their own](errors.md).",
    ]
    for topic, names in TOPICS.items():
        page += ["", f"## {topic}", "", "```{eval-rst}"]
        page += ["\n".join(directive(name)) for name in names]
        page += ["```"]
    page += [
        "",
        "## What methods return",
        "",
        "These classes have no name in the package: methods return them.",
        "",
        "```{eval-rst}",
    ]
    page += ["\n".join(members_of(path)) for path in RETURNED]
    page += ["```"]
    return "\n".join([*page, ""])


def members_of(path: str) -> list[str]:
    return [f".. autoclass:: {path}", "   :members:", "   :inherited-members: str, Mapping, object", ""]


def directive(name: str) -> list[str]:
    """The directive by which Sphinx reads a name."""
    found = getattr(ec, name)
    if inspect.isclass(found):
        inherits = not issubclass(found, Exception) and found.__module__.startswith("evercurrent")
        return [
            f".. autoclass:: evercurrent.{name}",
            f"   :members: {ONLY.get(name, '')}".rstrip(),
            *(
                ["   :inherited-members: Exception, list, dict, tuple, object"]
                if inherits and name not in ONLY
                else []
            ),
            "",
        ]
    if callable(found):
        return [f".. autofunction:: evercurrent.{name}", ""]
    return [f".. autodata:: evercurrent.{name}", ""]
