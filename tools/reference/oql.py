"""OQL: a table of constructs, with examples over a small database of objects."""

from __future__ import annotations

import re
from functools import cache

import evercurrent as ec
from evercurrent.frontend.oql import calls
from evercurrent.frontend.oql.parse import _parser
from tools.reference.engine import NOTICE, cell, code, entries, row, table

CLASSES = """\
class person (extent Persons) { attribute string name; attribute long age; };
class employee extends person (extent Employees) {
  attribute long salary;
  relationship department dept inverse department::employees;
  long raised(in long by); };
class department (extent Departments) {
  attribute string name;
  attribute dictionary<string, long> budget;
  relationship set<employee> employees inverse employee::dept; };"""


@cache
def objects() -> ec.Database:
    """The database of the examples."""
    db = ec.connect()
    db.odl(CLASSES, operations={"employee.raised": lambda self, by: self.salary + by})
    dev = db.new("department", name="dev", budget={"books": 5})
    db.new("person", name="Bob", age=8)
    db.new("employee", name="Ann", age=45, salary=100, dept=dev)
    db.new("employee", name="Ben", age=30, salary=50, dept=dev)
    return db


def rules() -> set[str]:
    """The constructs of the grammar, by the names that its trees have; a rule that only passes on another has no tree."""
    found = {
        str(rule.alias or rule.origin.name)
        for rule in _parser().rules
        if rule.alias or not rule.options.expand1
    }
    return {name for name in found if not name.startswith("_")} - {"start"}


def rules_shown() -> set[str]:
    return {
        str(tree.data)
        for entry in entries("oql.txt")
        for tree in _parser().parse(entry.example).iter_subtrees()
    }


def functions_shown() -> set[str]:
    words = {word.lower() for e in entries("oql.txt") for word in re.findall(r"(\w+)\(", e.example)}
    return words & set(calls.FUNCTIONS)


def oql_page() -> str:
    page = [
        "# OQL, construct by construct",
        "",
        NOTICE,
        "",
        "[Views in OQL](../oql.md) explains the language. The examples run over these classes, with a department `dev`, the employees Ann",
        "(45 years, paid 100) and Ben (30, paid 50) in it, and the person Bob. All scalar [functions](functions.md) of SQL are functions of OQL.",
        "",
        "```text",
        CLASSES,
        "```",
    ]
    heading = None
    for entry in entries("oql.txt"):
        if entry.heading != heading:
            heading = entry.heading
            page += ["", f"## {heading}", "", *table("construct", "meaning", "example", "value")]
        value = objects().oql(entry.example)
        page.append(row(code(entry.form), cell(entry.meaning), code(entry.example), code(repr(value))))
    return "\n".join([*page, ""])
