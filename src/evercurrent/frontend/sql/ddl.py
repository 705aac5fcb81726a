"""CREATE and DROP: tables, views, assertions.

DROP VIEW IF EXISTS v CASCADE          DropRelation(kind='view', name='v', if_exists=True, cascade=True)
CREATE ASSERTION a CHECK               the query that must stay empty:
  (NOT EXISTS (SELECT 1 FROM t))       bag{ (1: 1) | t <- t }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as replace_env
from itertools import takewhile
from typing import Literal as Choice
from typing import TypeVar

from sqlglot import exp

from evercurrent.calculus.nodes import Comprehension, Exists, Filter, Generator, Ordered, Query, Top
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.nodes import Assertion, Mode, Table, TableColumn, View
from evercurrent.data.types import BOOLEAN, STRING, Member, Null
from evercurrent.errors import QueryError
from evercurrent.frontend.sql import expressions, queries, tables
from evercurrent.frontend.sql.results import Result, rename_columns
from evercurrent.frontend.sql.scope import Env, Rows
from evercurrent.frontend.sql.statements import (
    CreateAssertion,
    CreateTable,
    CreateTableAs,
    CreateView,
    DropRelation,
    Select,
    Statement,
    Truncate,
)
from evercurrent.frontend.sql.syntax import Tokens, parse_tokens
from evercurrent.term import build
from evercurrent.term.nodes import Call, Literal

Word = TypeVar("Word", bound=str)
Policy = Choice["incremental", "auto", "full"]
POLICIES: tuple[Policy, ...] = ("incremental", "auto", "full")
MAPS: tuple[Choice["auto", "all", "none"], ...] = ("auto", "all", "none")
PLANS: tuple[Choice["auto", "plant", "identities"], ...] = ("auto", "plant", "identities")
MODES: tuple[Mode, ...] = ("strict", "lazy", "hybrid")


INSTEAD = {
    "DATABASE": "ec.connect(path) opens or creates one",
    "FUNCTION": "write it as a function in Python (ec.opaque), or as a view",
    "PROCEDURE": "write it as a function in Python that calls db.execute",
    "SCHEMA": "there is one schema; a name with a dot is a name",
    "SEQUENCE": "give rows their keys yourself, or use objects (ec.Entity), which have identities",
}


def create(env: Env, node: exp.Create, text: str, policy: Policy = "incremental") -> Statement:
    kind = str(node.args.get("kind") or "").upper()
    replace, exists = bool(node.args.get("replace")), bool(node.args.get("exists"))
    if replace and exists:
        raise env.wrong("CREATE OR REPLACE and IF NOT EXISTS exclude each other", node)
    if kind == "VIEW":
        return CreateView(view(env, node, text, policy), replace, exists)
    if kind == "TABLE":
        if node.expression is not None:
            return create_as(env, node, replace, exists)
        if is_temporary(env, node):
            raise env.unsupported_error(
                "CREATE TEMPORARY TABLE", node, hint="create a table, and drop it afterwards"
            )
        return CreateTable(tables.table(env, node, options(env, node)), replace, exists)
    raise env.unsupported_error(f"CREATE {kind}", node, hint=INSTEAD.get(kind))


def create_as(env: Env, node: exp.Create, replace: bool, exists: bool) -> CreateTableAs:
    """CREATE TABLE name AS query: the columns are those of the query."""
    options(env, node)
    if isinstance(node.this, exp.Schema) and any(
        isinstance(c, exp.ColumnDef) and c.kind for c in node.this.expressions
    ):
        raise env.unsupported_error(
            "CREATE TABLE AS with types of columns",
            node,
            hint="create the table, then INSERT INTO it SELECT ...",
        )
    result = queries.query(env.with_clock(), node.expression, keep_order=True)
    columns = list(node.this.expressions) if isinstance(node.this, exp.Schema) else []
    names = rename_columns(
        env, result.names, [c.this if isinstance(c, exp.ColumnDef) else c for c in columns], node
    )
    fields = result.query.fields[: len(names)]
    for name in names:
        if sum(other.lower() == name.lower() for other in names) > 1:
            raise env.wrong(
                f"two columns are called {name}", node, hint="give one of them another name with AS"
            )
    made = tuple(
        TableColumn(n, STRING if isinstance(f.type, Null) else f.type)
        for n, f in zip(names, fields, strict=True)
    )
    select = Select(Ordered(result.query, result.order), names)
    return CreateTableAs(Table(name_of(env, node.this), made), select, replace, exists)


def name_of(env: Env, node: exp.Expr | None) -> str:
    """The name of a relation, as it is written."""
    target = node.this if isinstance(node, exp.Schema) else node
    if not isinstance(target, exp.Table) or not isinstance(target.this, exp.Identifier):
        raise env.wrong("a name is expected here", node)
    return ".".join(p.name for p in target.parts)


IGNORED = (
    exp.FileFormatProperty,
    exp.SchemaCommentProperty,
    exp.MaterializedProperty,
    exp.TemporaryProperty,
    exp.LocationProperty,
    exp.GlobalProperty,
)


def options(env: Env, node: exp.Create) -> dict[str, str]:
    """WITH (...) and TBLPROPERTIES (...), as strings under lower-case names."""
    found: dict[str, str] = {}
    properties = node.args.get("properties")
    for property_ in properties.expressions if properties is not None else ():
        if isinstance(property_, IGNORED):
            continue
        if isinstance(property_, exp.LikeProperty):
            hint = "CREATE TABLE new AS SELECT * FROM old WHERE false takes over the columns, without keys"
            raise env.unsupported_error("CREATE TABLE ... LIKE", property_.this, node, hint=hint)
        if type(property_) is not exp.Property:
            raise env.unsupported_error(f"{property_.key} in CREATE", property_, node)
        value = property_.args.get("value")
        text = str(value.this) if isinstance(value, exp.Boolean) else getattr(value, "name", str(value))
        found[property_.name.lower()] = text.lower()
    return found


def option(env: Env, node: exp.Create, name: str, allowed: tuple[Word, ...], default: Word) -> Word:
    """The value of one option of a view."""
    found = options(env, node).get(name, default)
    for word in allowed:
        if word == found:
            return word
    hint = f"there is {', '.join(allowed)}"
    raise env.wrong(f"there is no {name} {found}", node.args.get("properties"), node, hint=hint)


# --- views -------------------------------------------------------------------------------------------------


def view(env: Env, node: exp.Create, text: str, policy: Policy) -> View:
    if node.expression is None:
        raise env.wrong("a view needs AS and a query", node)
    env = replace_env(env, keeps=True)
    name = name_of(env, node.this)
    columns = list(node.this.expressions) if isinstance(node.this, exp.Schema) else []
    chosen = option(env, node, "policy", POLICIES, policy)
    mode = option(env, node, "mode", MODES, "strict")
    plan = option(env, node, "plan", PLANS, "auto")
    maps = option(env, node, "maps", MAPS, "auto")
    result = queries.query(env, node.expression, keep_order=True)
    identifiers = [c.this if isinstance(c, exp.ColumnDef) else c for c in columns]
    names = rename_columns(env, result.names, identifiers, node)
    result = without_hidden(env, Result(result.query, names, result.order))
    query = name_fields(env, node.expression, result)
    return View(
        name=name,
        fields=query.fields,
        query=query,
        order=result.order,
        text=text,
        policy=chosen,
        mode=mode,
        plan=plan,
        maps=maps,
        uses=relations_of(query),
        inline=is_temporary(env, node),
    )


def is_temporary(env: Env, node: exp.Create) -> bool:
    """Whether a view is not kept: its query is written out where it is read."""
    properties = node.args.get("properties")
    found = properties.expressions if properties is not None else ()
    shared = next((p for p in found if isinstance(p, exp.GlobalProperty)), None)
    if shared is not None:
        raise env.unsupported_error(
            "GLOBAL TEMPORARY", shared, node, hint="CREATE TEMPORARY VIEW, in the database where it is read"
        )
    return any(isinstance(p, exp.TemporaryProperty) for p in found)


def without_hidden(env: Env, result: Result) -> Result:
    """A view keeps no sort keys that are not columns. Under a limit they have done their work; reading goes without."""
    query, shown = result.query, len(result.names)
    if not isinstance(query, Top) or len(query.fields) == shown:
        return result
    variable = env.variable("t", query)
    head = tuple(build.field(variable, f.name) for f in query.fields[:shown])
    kept = Comprehension("bag", head, (Generator(variable, query),), query.fields[:shown])
    order = tuple(takewhile(lambda key: key[0] < shown, result.order))
    return Result(kept, result.names, order)


def name_fields(env: Env, node: exp.Expr, result: Result) -> Query:
    """The query with its fields under their SQL names, which must differ from each other."""
    query, names = result.query, result.names
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            hint = "give one of them another name with AS"
            raise env.wrong(f"two columns are called {name}", node, hint=hint)
        seen.add(name.lower())
    if len(query.fields) > len(names):
        raise env.unsupported_error(
            "ordering a view by what is not one of its columns",
            node,
            hint="add the expression to the select list",
        )
    if tuple(f.name for f in query.fields) == names:
        return query
    return rename_fields(env, query, names)


def rename_fields(env: Env, query: Query, names: Sequence[str]) -> Query:
    fields = tuple(Member(n, f.type, f.nullable) for n, f in zip(names, query.fields, strict=True))
    if isinstance(query, Comprehension):
        return Comprehension(query.monoid, query.head, query.qualifiers, fields)
    variable = env.variable("v", query)
    head = tuple(build.field(variable, f.name) for f in query.fields)
    return Comprehension("bag", head, (Generator(variable, query),), fields)


# --- assertions --------------------------------------------------------------------------------------------


def create_assertion(env: Env, tokens: Tokens) -> CreateAssertion:
    """CREATE [OR REPLACE] ASSERTION [IF NOT EXISTS] name CHECK (condition).

    What must hold becomes a query that must stay empty: of NOT EXISTS (q) it is q, whose rows are then the violation.
    """
    i, replace, exists = 1, False, False
    if tokens.word(1) == "OR":
        i, replace = 3, True
    i += 1
    if [tokens.word(i), tokens.word(i + 1), tokens.word(i + 2)] == ["IF", "NOT", "EXISTS"]:
        i, exists = i + 3, True
    if i >= len(tokens.tokens) or tokens.word(i + 1) != "CHECK":
        raise QueryError(
            "an assertion is written CREATE ASSERTION name CHECK (condition)", place=tokens.place(i)
        )
    name = tokens.tokens[i].text
    node = parse_tokens(tokens.since(i + 2), exp.Condition)
    env = replace_env(env, keeps=True)
    condition = expressions.condition(Rows(env, (), "an assertion"), node, "CHECK")
    query = violations(env, condition)
    text = tokens.text[tokens.tokens[0].start : tokens.tokens[-1].end + 1]
    return CreateAssertion(Assertion(name, query.fields, query, text, relations_of(query)), replace, exists)


def violations(env: Env, condition: object) -> Query:
    """The query that is empty as long as the condition is not FALSE."""
    match condition:
        case Call("not", (Exists(query),)):
            return query
        case _:
            failed = build.call("not", condition)  # type: ignore[arg-type]
            fields = (Member("violated", BOOLEAN, False),)
            return Comprehension("bag", (Literal(True, BOOLEAN),), (Filter(failed),), fields)


# --- dropping ----------------------------------------------------------------------------------------------


def drop(env: Env, node: exp.Drop) -> DropRelation:
    kind = str(node.args.get("kind") or "").lower()
    if kind not in ("table", "view"):
        raise env.unsupported_error(f"DROP {kind.upper()}", node)
    targets = node.args.get("tables") or ([node.this] if node.this is not None else [])
    if len(targets) != 1:
        raise env.unsupported_error("DROP of several relations at once", node)
    name = name_of(env, targets[0])
    cascade = bool(node.args.get("cascade"))
    return DropRelation(kind, name, bool(node.args.get("exists")), cascade)  # type: ignore[arg-type]


def drop_assertion(tokens: Tokens) -> DropRelation:
    i, exists = 2, False
    if [tokens.word(2), tokens.word(3)] == ["IF", "EXISTS"]:
        i, exists = 4, True
    if len(tokens.tokens) != i + 1:
        raise QueryError("an assertion is dropped with DROP ASSERTION name", place=tokens.place(i + 1))
    return DropRelation("assertion", tokens.tokens[i].text, exists)


def truncate(env: Env, node: exp.TruncateTable) -> Truncate:
    if len(node.expressions) != 1 or node.args.get("partition"):
        raise env.unsupported_error("this form of TRUNCATE", node)
    name = name_of(env, node.expressions[0])
    return Truncate(tables.require_table(env, name, node.expressions[0]).name)
