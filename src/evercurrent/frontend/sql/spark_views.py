"""CREATE VIEW statements whose query only Spark understands: what can be said of them without understanding the query.

    CREATE VIEW v WITH (policy = 'full') AS SELECT from_json(j, 'a INT').a AS a FROM t
    -> Heading("v", (), "full", "strict", reads {"t"})

A definition is data that somebody else may have written, so its text reaches Spark only if it can do no more than compute rows
from relations of the warehouse: every name in FROM is one of these or of WITH, no function runs code or reads files, and none has a
value that changes while the data does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from evercurrent.calculus.scope import Names
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Mode
from evercurrent.errors import UnsupportedError
from evercurrent.frontend.sql.ddl import MODES, POLICIES, Policy, is_temporary, name_of, option
from evercurrent.frontend.sql.functions import CLOCK_IF_BARE, UNSTABLE
from evercurrent.frontend.sql.scope import Env
from evercurrent.frontend.sql.spark_text import query_tokens
from evercurrent.frontend.sql.syntax import parse_tokens, split
from evercurrent.source import Place

REACHING_OUT = frozenset(
    (
        "from_avro",
        "to_avro",
        "schema_of_avro",
        "from_protobuf",
        "to_protobuf",
        "read_files",
        "input_file_block_length",
        "python_worker_logs",
        "session_window",
        "identifier",
    )
)
"""Functions that read files or settings, that only streams have, or whose argument is a name."""
BARE = frozenset(
    ("current_timestamp", "current_date", "current_time", "localtimestamp", "current_user", "session_user")
)
"""Names that are calls even without brackets."""


@dataclass(frozen=True)
class Heading:
    """What stands around the query, and which relations it reads, under the names that the catalog has for them."""

    name: str
    columns: tuple[str, ...]
    policy: Policy
    mode: Mode
    replacing: bool
    quietly: bool
    uses: frozenset[str]
    functions: frozenset[str]  # lower-cased names of the functions that it calls


def view_heading(text: str, catalog: Catalog, policy: Policy) -> Heading | None:
    """Returns what is said of a view; None if the text is no CREATE VIEW. Refuses what a definition must not do."""
    (tokens, *more) = split(text)
    if more or tokens.word(0) != "CREATE":
        return None
    node = parse_tokens(tokens)
    if not isinstance(node, exp.Create) or str(node.args.get("kind")).upper() != "VIEW":
        return None
    env = Env(text, catalog, Names())
    if node.expression is None or is_temporary(env, node):
        return None
    query = parse_tokens(query_tokens(text))
    columns = list(node.this.expressions) if isinstance(node.this, exp.Schema) else []
    refuse_scripts(query, text)
    return Heading(
        name_of(env, node.this),
        tuple((c.this if isinstance(c, exp.ColumnDef) else c).name for c in columns),
        option(env, node, "policy", POLICIES, policy),
        option(env, node, "mode", MODES, "strict"),
        bool(node.args.get("replace")),
        bool(node.args.get("exists")),
        relations(query, catalog, text),
        frozenset(find_calls(query, text)),
    )


def refuse_scripts(query: exp.Expr, text: str) -> None:
    found = query.find(exp.QueryTransform, exp.TableSample, exp.Command)
    if found is not None:
        what = "TABLESAMPLE" if isinstance(found, exp.TableSample) else "TRANSFORM ... USING"
        raise UnsupportedError(
            f"{what} is not supported, not even by Spark's own SQL", place=place_of(found, text)
        )


def relations(query: exp.Expr, catalog: Catalog, text: str) -> frozenset[str]:
    """Returns the relations that a query reads; names that WITH defines are not among them."""
    defined = {c.alias_or_name.lower() for c in query.find_all(exp.CTE)}
    found = set()
    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue  # a table function: `find_calls` looks at it
        known = catalog.relation(table.name)
        if len(table.parts) > 1 or (known is None and table.name.lower() not in defined):
            name = ".".join(p.name for p in table.parts)
            raise UnsupportedError(
                f"Spark would look for {name} in its own catalog",
                place=place_of(table, text),
                hint="a view reads tables and views of the warehouse: db.source declares others",
            )
        if known is not None:
            found.add(known.name)
    return frozenset(found)


def find_calls(query: exp.Expr, text: str) -> Iterator[str]:
    """Yields the names of functions that a query calls."""
    for node in query.walk():
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous):
            raise UnsupportedError(
                f"{node.sql(dialect='spark')[:60]} may be a function of a catalog",
                place=place_of(node, text),
                hint="a definition calls functions that Spark itself has",
            )
        name = ""
        if isinstance(node, exp.Anonymous) or (
            isinstance(node, exp.Column) and len(node.parts) == 1 and node.name.lower() in BARE
        ):
            name = node.name.lower()
        elif isinstance(node, exp.Func):
            name = (node.sql_names()[0] if node.sql_names() else node.key).lower()
        if not name:
            continue
        changing = name in UNSTABLE or (name in CLOCK_IF_BARE and not node.expressions)
        if changing or name in REACHING_OUT:
            why = (
                "whose value can change while the data does not" if changing else "which reads more than rows"
            )
            raise UnsupportedError(f"{name}, {why}, is not supported", place=place_of(node, text))
        yield name


def place_of(node: exp.Expr, text: str) -> Place:
    known = [n.meta for n in node.walk() if "start" in n.meta]
    if not known:
        return Place(text, 0, len(text))
    return Place(text, min(m["start"] for m in known), max(m["end"] for m in known) + 1)
