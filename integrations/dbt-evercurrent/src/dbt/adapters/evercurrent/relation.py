"""Relations: a name with a schema is one name with a dot, `main.orders`; the schema `default` has names without one."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import Policy, RelationType

DEFAULT_SCHEMA = "default"


@dataclass
class IncludePolicy(Policy):
    database: bool = False
    schema: bool = True
    identifier: bool = True


@dataclass
class QuotePolicy(Policy):
    database: bool = False
    schema: bool = True
    identifier: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class EvercurrentRelation(BaseRelation):
    quote_character: str = "`"
    require_alias: bool = False
    include_policy: Policy = field(default_factory=IncludePolicy)
    quote_policy: Policy = field(default_factory=QuotePolicy)

    def __post_init__(self) -> None:
        if self.schema is not None and self.schema.lower() == DEFAULT_SCHEMA and self.include_policy.schema:
            bare = IncludePolicy(schema=False, identifier=self.include_policy.identifier)
            object.__setattr__(self, "include_policy", bare)

    @property
    def full_name(self) -> str:
        """The name in the database."""
        return name_in_database(self.schema, self.identifier)


def name_in_database(schema: str | None, identifier: str | None) -> str:
    """Returns the name of a relation: `main.orders`, or `orders` in the schema `default`."""
    if not schema or schema.lower() == DEFAULT_SCHEMA:
        return str(identifier)
    return f"{schema}.{identifier}"


def parts_of(name: str) -> tuple[str, str]:
    """Returns schema and identifier of a name in the database."""
    schema, dot, identifier = name.partition(".")
    return (schema, identifier) if dot else (DEFAULT_SCHEMA, name)


KINDS = {
    "table": RelationType.Table,
    "view": RelationType.View,
    "incremental_view": RelationType.MaterializedView,
}
