"""dbt's own tests of what adapters may offer, as they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dbt.tests.adapter.aliases.test_aliases import (
    BaseAliasErrors,
    BaseAliases,
    BaseSameAliasDifferentSchemas,
)
from dbt.tests.adapter.caching.test_caching import (
    BaseCachingLowercaseModel,
    BaseCachingSelectedSchemaOnly,
    BaseNoPopulateCache,
)
from dbt.tests.adapter.concurrency.test_concurrency import BaseConcurrency
from dbt.tests.adapter.dbt_clone.test_dbt_clone import BaseCloneNotPossible
from dbt.tests.adapter.dbt_show.test_dbt_show import BaseShowLimit
from dbt.tests.adapter.empty.test_empty import BaseTestEmpty, BaseTestEmptyInlineSourceRef
from dbt.tests.adapter.ephemeral.test_ephemeral import BaseEphemeralErrorHandling
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import BaseMergeExcludeColumns
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import BaseIncrementalOnSchemaChange
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey
from dbt.tests.adapter.query_comment.test_query_comment import (
    BaseMacroQueryComments,
    BaseNullQueryComments,
    BaseQueryComments,
)
from dbt.tests.adapter.relations.test_changing_relation_type import BaseChangeRelationTypeValidator
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseBasicSeedTests,
    BaseSeedConfigFullRefreshOff,
    BaseSeedConfigFullRefreshOn,
    BaseSeedCustomSchema,
    BaseSimpleSeedEnabledViaConfig,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.simple_snapshot.test_snapshot import BaseSimpleSnapshot, BaseSnapshotCheck
from dbt.tests.adapter.store_test_failures_tests.test_store_test_failures import BaseStoreTestFailures
from dbt.tests.adapter.unit_testing.test_case_insensitivity import BaseUnitTestCaseInsensivity
from dbt.tests.adapter.unit_testing.test_invalid_input import BaseUnitTestInvalidInput
from dbt.tests.adapter.unit_testing.test_types import BaseUnitTestingTypes

AS_THEY_ARE = (
    BaseAliases, BaseAliasErrors, BaseSameAliasDifferentSchemas,
    BaseCachingLowercaseModel, BaseCachingSelectedSchemaOnly, BaseNoPopulateCache,
    BaseConcurrency, BaseCloneNotPossible, BaseShowLimit, BaseTestEmpty, BaseTestEmptyInlineSourceRef,
    BaseEphemeralErrorHandling,
    BaseMergeExcludeColumns, BaseIncrementalOnSchemaChange, BaseIncrementalPredicates, BaseIncrementalUniqueKey,
    BaseMacroQueryComments, BaseNullQueryComments, BaseQueryComments,
    BaseChangeRelationTypeValidator,
    BaseSeedConfigFullRefreshOff, BaseSeedCustomSchema, BaseTestEmptySeed,
    BaseSimpleSnapshot, BaseSnapshotCheck, BaseStoreTestFailures,
    BaseUnitTestCaseInsensivity, BaseUnitTestInvalidInput,
)  # fmt: skip

for _base in AS_THEY_ARE:
    _name = f"Test{_base.__name__.removeprefix('Base')}"
    globals()[_name] = type(_name, (_base,), {"__module__": __name__})
    del globals()[_base.__name__]
del _base


class ViewsStay:
    """dbt expects that a full refresh of a seed drops the views over it; here they stay, and follow the new rows."""

    def _check_relation_end_state(self, run_result, project, exists: bool) -> None:
        super()._check_relation_end_state(run_result=run_result, project=project, exists=True)


class TestBasicSeedTests(ViewsStay, BaseBasicSeedTests):
    pass


class TestSeedConfigFullRefreshOn(ViewsStay, BaseSeedConfigFullRefreshOn):
    pass


class TestSimpleSeedEnabledViaConfig(BaseSimpleSeedEnabledViaConfig):
    @pytest.fixture(scope="function")
    def clear_test_schema(self, project) -> Iterator[None]:
        # dbt's own says DROP SCHEMA, which is not a statement here.
        yield
        with project.adapter.connection_named("clear"):
            project.adapter.drop_schema(
                project.adapter.Relation.create(database=project.database, schema=project.test_schema)
            )


class TestUnitTestingTypes(BaseUnitTestingTypes):
    @pytest.fixture
    def data_types(self) -> list[list[str]]:
        return [
            ["1", "1"],
            ["'1'", "1"],
            ["true", "true"],
            ["date '2020-01-02'", "2020-01-02"],
            ["timestamp '2013-11-03 00:00:00'", "2013-11-03 00:00:00"],
            ["cast('1' as decimal(10,2))", "1"],
            ["cast('1' as double)", "1"],
        ]


del BaseBasicSeedTests, BaseSeedConfigFullRefreshOn, BaseSimpleSeedEnabledViaConfig, BaseUnitTestingTypes
