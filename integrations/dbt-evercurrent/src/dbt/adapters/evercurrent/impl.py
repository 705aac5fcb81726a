"""What dbt asks of a database: which relations there are and their columns, and how a model becomes a definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

import agate
from dbt.adapters.base import BaseRelation, Column, ConstraintSupport, available
from dbt.adapters.base.impl import AdapterConfig
from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.evercurrent import sources
from dbt.adapters.evercurrent.connections import EvercurrentConnectionManager
from dbt.adapters.evercurrent.relation import (
    DEFAULT_SCHEMA,
    KINDS,
    EvercurrentRelation,
    name_in_database,
    parts_of,
)
from dbt.adapters.sql import SQLAdapter
from dbt_common.clients.agate_helper import table_from_data_flat
from dbt_common.contracts.constraints import ConstraintType
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

logger = AdapterLogger("evercurrent")

CATALOG_COLUMNS = (
    "table_database", "table_schema", "table_name", "table_type", "table_comment", "table_owner",
    "column_name", "column_index", "column_type", "column_comment",
)  # fmt: skip


@dataclass
class EvercurrentConfig(AdapterConfig):
    """What a model may configure beside what dbt knows."""

    policy: str | None = None
    mode: str | None = None


class EvercurrentColumn(Column):
    TYPE_LABELS = {"TEXT": "STRING", "INTEGER": "INT"}  # noqa: RUF012 - as dbt declares it

    @property
    def quoted(self) -> str:
        return f"`{self.column}`"

    @property
    def data_type(self) -> str:
        return self.dtype

    def is_string(self) -> bool:
        return self.dtype.lower().startswith(("string", "varchar", "char"))

    def is_numeric(self) -> bool:
        return self.dtype.lower().startswith("decimal")

    def is_integer(self) -> bool:
        return self.dtype.lower() in ("tinyint", "smallint", "int", "bigint")

    def is_float(self) -> bool:
        return self.dtype.lower() in ("float", "double")

    def string_size(self) -> int:
        return 1 << 30

    def can_expand_to(self, other_column: Column) -> bool:
        return False


class EvercurrentAdapter(SQLAdapter):
    ConnectionManager = EvercurrentConnectionManager
    Relation = EvercurrentRelation
    Column = EvercurrentColumn
    AdapterSpecificConfigs = EvercurrentConfig

    CONSTRAINT_SUPPORT = {  # noqa: RUF012 - as dbt declares it
        ConstraintType.check: ConstraintSupport.NOT_SUPPORTED,
        ConstraintType.not_null: ConstraintSupport.ENFORCED,
        ConstraintType.unique: ConstraintSupport.ENFORCED,
        ConstraintType.primary_key: ConstraintSupport.ENFORCED,
        ConstraintType.foreign_key: ConstraintSupport.NOT_SUPPORTED,
    }

    _capabilities = CapabilityDict(
        {Capability.SchemaMetadataByRelations: CapabilitySupport(support=Support.Unsupported)}
    )

    _preparing = Lock()
    _refreshed: str | None = None  # the invocation in which sources were refreshed

    # --- the database --------------------------------------------------------------------------------------

    @property
    def db(self) -> Any:
        return self.connections.get_thread_connection().handle.db

    @classmethod
    def date_function(cls) -> str:
        return "current_timestamp()"  # dbt asks for a text; a query that has it is refused with the reason

    @classmethod
    def is_cancelable(cls) -> bool:
        return False

    @classmethod
    def quote(cls, identifier: str) -> str:
        return f"`{identifier}`"

    def valid_incremental_strategies(self) -> list[str]:
        return ["append", "delete+insert", "merge"]

    # --- schemas: the first part of a name ---------------------------------------------------------------------

    def list_schemas(self, database: str) -> list[str]:
        found = {parts_of(name)[0] for name in self._kinds()} | {DEFAULT_SCHEMA}
        return sorted(found)

    def check_schema_exists(self, database: str, schema: str) -> bool:
        return True

    def create_schema(self, relation: BaseRelation) -> None:
        """Nothing to do: a schema is there as soon as a name has it."""

    def drop_schema(self, relation: BaseRelation) -> None:
        for name in list(self._kinds()):
            if parts_of(name)[0].lower() == (relation.schema or DEFAULT_SCHEMA).lower():
                self._drop(name)
        self.cache.drop_schema(relation.database, relation.schema)

    # --- relations ------------------------------------------------------------------------------------------

    def _kinds(self) -> dict[str, str]:
        """Returns table, view or incremental_view for each name in the database."""
        db = self.db
        found = {name: "table" for _, name, _ in db.execute("SHOW TABLES").rows()}
        for _, name, inlined in db.execute("SHOW VIEWS").rows():
            found[name] = "view" if inlined else "incremental_view"
        return found

    def _kind(self, name: str) -> str | None:
        return next((kind for n, kind in self._kinds().items() if n.lower() == name.lower()), None)

    def _drop(self, name: str) -> None:
        kind = self._kind(name)
        if kind is not None:
            self.execute(f"DROP {'TABLE' if kind == 'table' else 'VIEW'} `{name}` CASCADE")

    @available
    def kind_of(self, relation: BaseRelation) -> str | None:
        """Returns table, view or incremental_view; none if there is no such relation."""
        return self._kind(name_in_database(relation.schema, relation.identifier))

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        wanted = (schema_relation.schema or DEFAULT_SCHEMA).lower()
        found: list[BaseRelation] = []
        for name, kind in self._kinds().items():
            schema, identifier = parts_of(name)
            if schema.lower() == wanted:
                found.append(
                    self.Relation.create(
                        database=schema_relation.database,
                        schema=schema_relation.schema,
                        identifier=identifier,
                        type=KINDS[kind],
                        quote_policy={"schema": True, "identifier": True},
                    )
                )
        return found

    def drop_relation(self, relation: BaseRelation) -> None:
        self._drop(name_in_database(relation.schema, relation.identifier))
        self.cache_dropped(relation)

    def truncate_relation(self, relation: BaseRelation) -> None:
        self.execute(f"TRUNCATE TABLE {relation.render()}")

    def rename_relation(self, from_relation: BaseRelation, to_relation: BaseRelation) -> None:
        """A table is copied under the new name; a view cannot be renamed, because its text has its name."""
        if self.kind_of(from_relation) != "table":
            raise DbtRuntimeError(f"{from_relation} cannot be renamed: drop it and create {to_relation}")
        self.execute(f"CREATE TABLE {to_relation.render()} AS SELECT * FROM {from_relation.render()}")
        self.drop_relation(from_relation)
        self.cache_renamed(from_relation, to_relation)

    def get_columns_in_relation(self, relation: BaseRelation) -> list[Column]:
        if self.kind_of(relation) is None:
            return []
        return [
            EvercurrentColumn(name, type_) for name, type_ in self._columns(f"DESCRIBE {relation.render()}")
        ]

    def _columns(self, describe: str) -> list[tuple[str, str]]:
        _, found = self.execute(describe, fetch=True)
        return [(row["col_name"], row["data_type"]) for row in found]

    def expand_target_column_types(self, from_relation: BaseRelation, to_relation: BaseRelation) -> None:
        """Nothing to do: a STRING has no length."""

    # --- definitions -----------------------------------------------------------------------------------------

    @available
    def prepare_run(self, nodes: Iterable[Mapping[str, Any]], invocation: str) -> None:
        """Declares the sources of the project, and takes in what has changed in them: once in an invocation."""
        with self._preparing:
            if EvercurrentAdapter._refreshed == invocation:
                return
            with self.connections.exception_handler("refresh"):
                made = sources.declare(self.db, nodes)
                run = self.db.refresh()
            EvercurrentAdapter._refreshed = invocation
        if made:
            logger.info(f"declared {', '.join(made)}")
        logger.debug(f"refreshed the sources: {run}")

    @available
    def is_defined_as(self, relation: BaseRelation, statement: str) -> bool:
        """Returns whether a view was defined by this very statement."""
        if self.kind_of(relation) not in ("view", "incremental_view"):
            return False
        _, found = self.execute(f"SHOW CREATE VIEW {relation.render()}", fetch=True)
        return found[0][0].strip() == statement.strip()

    @available
    def define(self, relation: BaseRelation, statement: str) -> str:
        """Runs a statement that creates or replaces a relation; returns what it was.

        What depends on the relation is resolved again. If that is impossible, because a column is gone that it reads, it is dropped,
        and dbt creates it again when its turn comes.
        """
        try:
            response, _ = self.execute(statement)
        except DbtDatabaseError as problem:
            if "depends on" not in str(problem) or "would be wrong" not in str(problem):
                raise
            before = set(self._kinds())
            self._drop(name_in_database(relation.schema, relation.identifier))
            gone = sorted(
                before - set(self._kinds()) - {name_in_database(relation.schema, relation.identifier)}
            )
            logger.warning(f"{relation}: dropped what reads columns that it no longer has: {', '.join(gone)}")
            response, _ = self.execute(statement)
        return str(response)

    @available
    def has_columns_of(self, relation: BaseRelation, sql: str) -> bool:
        """Returns whether a table has the columns of a query, names and types, in their order."""
        if self.kind_of(relation) != "table":
            return False
        old = self._columns(f"DESCRIBE {relation.render()}")
        new = self._columns(f"DESCRIBE QUERY {sql}")
        return [(n.lower(), t) for n, t in old] == [
            (n.lower(), "STRING" if t == "VOID" else t) for n, t in new
        ]

    @available
    def load_seed(self, relation: BaseRelation, rows: agate.Table) -> None:
        """Makes these the rows of a table, in one transaction: what depends on it is updated by the difference."""
        db = self.db
        name = name_in_database(relation.schema, relation.identifier)
        names = list(rows.column_names)
        types = dict(self._columns(f"DESCRIBE {relation.render()}"))
        whole = {n for n in names if types.get(n, "").upper() in ("TINYINT", "SMALLINT", "INT", "BIGINT")}
        new = [
            {n: int(v) if n in whole and v is not None else v for n, v in zip(names, row, strict=True)}
            for row in rows.rows
        ]
        with self.connections.exception_handler(f"seed {name}"), db.transaction():
            db.execute(f"DELETE FROM {relation.render()}")
            db.table(name).insert(new)

    # --- the catalog -----------------------------------------------------------------------------------------

    def get_catalog(
        self, relation_configs: Iterable[Any], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[agate.Table, list[Exception]]:
        wanted = {(schema or DEFAULT_SCHEMA).lower() for _, schema in used_schemas}
        rows = []
        with self.connection_named("catalog"):
            for name, kind in self._kinds().items():
                schema, identifier = parts_of(name)
                if schema.lower() in wanted:
                    for at, (column, type_) in enumerate(self._columns(f"DESCRIBE `{name}`"), 1):
                        values = (
                            self.config.credentials.database, schema, identifier, kind, None, None,
                            column, at, type_, None,
                        )  # fmt: skip
                        rows.append(dict(zip(CATALOG_COLUMNS, values, strict=True)))
        return table_from_data_flat(rows, list(CATALOG_COLUMNS)), []

    # --- types of seeds ----------------------------------------------------------------------------------------

    @classmethod
    def convert_text_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "STRING"

    @classmethod
    def convert_number_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        decimals = agate_table.aggregate(agate.MaxPrecision(col_idx))
        return "DOUBLE" if decimals else "BIGINT"

    @classmethod
    def convert_integer_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "BIGINT"

    @classmethod
    def convert_boolean_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "BOOLEAN"

    @classmethod
    def convert_datetime_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "TIMESTAMP"

    @classmethod
    def convert_date_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "DATE"

    @classmethod
    def convert_time_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "TIME"
