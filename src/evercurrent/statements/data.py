"""Tables from data, and files of rows: `db.create_table(name, frame)`, CREATE TABLE AS, COPY.

create_from(target, "orders", frame, key=("id",))     the types of the columns are those of the frame
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from evercurrent.catalog.lookup import require_table
from evercurrent.catalog.nodes import Table, TableColumn, Unique
from evercurrent.data.types import STRING, Member, Null
from evercurrent.data.zset import Row
from evercurrent.errors import QueryError
from evercurrent.frontend.sql import statements as s
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.spark_text import quote_name
from evercurrent.rows.conversion import Fields, RowReader
from evercurrent.rows.export import arrow_table
from evercurrent.rows.files import Kind, read_file, write_file
from evercurrent.rows.importing import arrow_of, columns_of
from evercurrent.rows.readers import rows_of
from evercurrent.rows.results import Result
from evercurrent.statements.table_text import table_text
from evercurrent.statements.target import Target


def table_for(name: str, columns: Fields, key: Sequence[str] = ()) -> Table:
    """Returns a table with these columns. A column of NULLs alone is one of texts."""
    spelled = {c.name.lower(): c.name for c in columns}
    for column in key:
        if column.lower() not in spelled:
            raise QueryError(
                f"there is no column {column} to be the key of {name}",
                hint=f"there are {', '.join(spelled.values())}",
            )
    if len(spelled) != len(columns):
        raise QueryError(f"two columns of {name} have the same name", hint="names are the same in any case")
    keyed = {c.lower() for c in key}
    made = tuple(
        TableColumn(
            c.name, STRING if isinstance(c.type, Null) else c.type, c.nullable and c.name.lower() not in keyed
        )
        for c in columns
    )
    chosen = Unique(f"{name}_pk", tuple(spelled[c.lower()] for c in key)) if key else None
    return Table(name, made, chosen)


def create_filled(
    target: Target, table: Table, rows: Iterable[Row], *, replacing: bool = False, quietly: bool = False
) -> int:
    """Creates a table with these rows; if they break its constraints, there is no table. Returns how many rows it has."""
    if quietly and target.catalog.table(table.name) is not None:
        return 0
    target.require_no_transaction("CREATE TABLE")
    target.create(s.CreateTable(table, replacing), table_text(table))
    changes = [(row, 1) for row in rows]
    try:
        with target.changing() as transaction:
            transaction.change(table.name.lower(), changes)
    except BaseException:
        target.drop(s.DropRelation("table", table.name))
        raise
    return len(changes)


def _rows_to_copy(target: Target, statement: s.Copy, answer: Callable[[s.Select], Result]) -> Result:
    if statement.select is not None:
        return answer(statement.select)
    name = statement.table or ""
    wanted = ", ".join(map(quote_name, statement.columns)) or "*"
    made = parse_statement(f"SELECT {wanted} FROM {quote_name(name)}", target.catalog)
    assert isinstance(made, s.Select)
    return answer(made)


def create_from(
    target: Target,
    name: str,
    data: Any,
    key: Sequence[str],
    *,
    replacing: bool = False,
    quietly: bool = False,
) -> int:
    """Creates a table from data of another library."""
    if isinstance(data, Mapping) and any(isinstance(v, str) for v in data.values()):
        raise QueryError(
            f"{name}: a mapping has a list of values for each column, not a text",
            hint='db.execute("CREATE TABLE name (id BIGINT PRIMARY KEY, ...)") creates an empty table',
        )
    found = arrow_of(data)
    table = table_for(name, columns_of(found), key)
    return create_filled(target, table, take_rows(table, found), replacing=replacing, quietly=quietly)


def take_rows(table: Table, found: Any) -> list[Row]:
    """Returns the rows of an Arrow table as those of a table."""
    return rows_of(RowReader(table, (None,) * len(table.columns)), found)


def rows_in(found: Any, kind: str = "SELECT") -> Result:
    """Returns the rows of an Arrow table as a result."""
    columns = columns_of(found)
    table = Table("data", tuple(TableColumn(c.name, c.type, c.nullable) for c in columns))
    rows = take_rows(table, found)
    return Result(kind, len(rows), tuple(columns), rows)


def read_rows(path: str, kind: str, options: Mapping[str, Any]) -> tuple[tuple[Member, ...], list[Row]]:
    """Returns the columns and the rows of files, for statements that name them in FROM."""
    found = rows_in(read_file(path, cast(Kind, kind), **options))
    return found.schema, list(found._internal())


def copy(target: Target, statement: s.Copy, answer: Callable[[s.Select], Result]) -> Result:
    """COPY from a file into a table, or from a table, view or query to a file."""
    kind, header, delimiter = cast(Kind | None, statement.format), statement.header, statement.delimiter
    if statement.direction == "from":
        table = require_table(target.catalog, statement.table or "")
        found = read_file(statement.path, kind, header=header, delimiter=delimiter)
        names = list(statement.columns) or (found.schema.names if header else [c.name for c in table.columns])
        if len(names) != found.num_columns:
            raise QueryError(
                f"{statement.path} has {found.num_columns} columns, and {len(names)} are expected",
                hint="name the columns that the file has: COPY t (a, b) FROM ...",
            )
        rows = rows_of(target.reader_of(table.name), found.rename_columns(names))
        with target.changing() as transaction:
            transaction.change(table.name.lower(), [(row, 1) for row in rows])
        return Result("COPY", len(rows))
    made = _rows_to_copy(target, statement, answer)
    fields: tuple[Member, ...] = made.schema
    write_file(
        arrow_table(fields, made._internal()), statement.path, kind, header=header, delimiter=delimiter
    )
    return Result("COPY", len(made))
