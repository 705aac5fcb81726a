"""Names that users of other databases type first, and what they are called here.

    db.insert("orders", row)      AttributeError: a database has no insert(): db.table("orders").insert(rows) inserts rows

`hasattr` is False for them, as for any other name that is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

DATABASE = {
    "add": 'db.table("orders").insert(rows) inserts rows',
    "begin": "`with db.transaction():` is a transaction; so are the statements BEGIN and COMMIT",
    "commit": 'outside `with db.transaction():` every change is committed at once; execute("COMMIT") ends what BEGIN began',
    "create_function": "opaque functions are plain Python: see ec.opaque, and db.view(function)",
    "create_view": 'db.execute("CREATE VIEW name AS SELECT ..."), or db.view(function)',
    "cursor": "there are no cursors: db.execute(sql, parameters) returns a result with fetchone() and fetchall()",
    "delete_from": 'db.table("orders").delete(key) deletes a row, db.execute("DELETE FROM ...") several',
    "drop": 'db.execute("DROP TABLE name")',
    "fetchall": 'db.query(sql).fetchall(), or list(db["orders"])',
    "fetchone": "db.query(sql).fetchone()",
    "from_arrow": "db.create_table(name, arrow_table, key=...)",
    "from_df": "db.create_table(name, frame, key=...)",
    "insert": 'db.table("orders").insert(rows) inserts rows',
    "list_tables": "db.tables and db.views are the names",
    "on_change": 'db.view("spend").subscribe(callback)',
    "read_sql": "db.query(sql).to_pandas()",
    "register": "db.create_table(name, frame, key=...) makes a table of a frame",
    "rollback": 'an exception inside `with db.transaction():` undoes it; execute("ROLLBACK") undoes what BEGIN began',
    "save": "db.backup(path) copies a database in a file; ec.connect(path) keeps one",
    "subscribe": 'db.view("spend").subscribe(callback)',
    "update": 'db.table("orders").update(key, column=value), or db.execute("UPDATE ...")',
    "upsert": 'db.table("orders").upsert(rows) inserts rows, or replaces those with their keys',
}
ROWS = {
    "collect": "rows() lists the rows",
    "count": "len(...) is the number of rows",
    "describe": "explain() says how a view is kept, schema what its columns are",
    "fetchdf": "df() or to_pandas() is a pandas frame",
    "fetchmany": "head(n) is a list of the first rows; db.query(sql) returns a result with fetchmany()",
    "fetchnumpy": "to_arrow() or to_pandas() leads to numpy",
    "fetchone": "next(iter(...), None), or db.query(sql).fetchone()",
    "filter": 'db.query("SELECT ... WHERE ..."), or db.table_of(Class).where(...)',
    "first": "next(iter(...), None) is a first row",
    "limit": "head(n) is a list of the first rows",
    "on_change": "subscribe(callback)",
    "select": 'db.query("SELECT ..."), or db.table_of(Class).select(...)',
    "show": "print(...) shows the rows",
    "to_df": "df() or to_pandas() is a pandas frame",
    "to_list": "rows() lists the rows",
    "toPandas": "to_pandas()",
    "where": 'db.query("SELECT ... WHERE ..."), or db.table_of(Class).where(...)',
    "watch": "subscribe(callback)",
}


def finder(names: Mapping[str, str], what: str) -> Callable[[Any, str], NoReturn]:
    """The `__getattr__` of a class: says what a familiar name is called here."""

    def find(self: Any, name: str) -> NoReturn:
        if name in names:
            raise AttributeError(f"{what} has no {name}(): {names[name]}", name=name, obj=self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    return find
