"""OpenLineage events for runs, through the package `openlineage-python` (extra `openlineage`).

Off unless configured: events are sent if OpenLineage's own configuration names a transport (OPENLINEAGE_URL, OPENLINEAGE_CONFIG,
openlineage.yml in the folder or in ~/.openlineage, OPENLINEAGE__TRANSPORT__...). A run has one event when it starts, and when it ends one
for each dataset that it wrote, with the columns from which each column is computed.

>>> is_configured({"OPENLINEAGE_URL": "http://localhost:5000"}, Path("/nowhere"))
True
>>> is_configured({"OPENLINEAGE_URL": "http://localhost:5000", "OPENLINEAGE_DISABLED": "true"}, Path("/nowhere"))
False

Sending must never fail a run: a failure is a note in its record.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evercurrent.algebra.column_lineage import column_lineage
from evercurrent.catalog.catalog import Catalog
from evercurrent.design.why import find_plan

PRODUCER = "urn:package:evercurrent"


@dataclass
class Dataset:
    """What an event says of a dataset: its columns, what it reads, and for each column (dataset, column) pairs."""

    name: str
    columns: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    lineage: Mapping[str, list[tuple[str, str]]] = field(default_factory=dict)


def is_configured(environment: Mapping[str, str], folder: Path) -> bool:
    """Whether OpenLineage's own configuration says where events go."""
    if environment.get("OPENLINEAGE_DISABLED", "").lower() == "true":
        return False
    named = {"OPENLINEAGE_URL", "OPENLINEAGE_CONFIG"} & set(environment)
    if named or any(name.startswith("OPENLINEAGE__TRANSPORT") for name in environment):
        return True
    places = (folder, Path(environment.get("HOME", "/")) / ".openlineage")
    return any((place / "openlineage.yml").is_file() for place in places)


def view_lineage(catalog: Catalog, view: str) -> dict[str, list[tuple[str, str]]]:
    """For each column of a view the columns of tables and views that it reads, from which it is computed."""
    plan = find_plan(view, catalog)
    if plan is None:
        return {}
    fields = catalog.fields_of(view)
    return {f.name: sorted(origins) for f, origins in zip(fields, column_lineage(plan), strict=True)}


class Events:
    """Sends the events of one run; does nothing if OpenLineage is not configured."""

    def __init__(self, pipeline: str, run: str) -> None:
        self.pipeline, self.run = pipeline, run
        self.namespace = os.environ.get("OPENLINEAGE_NAMESPACE", "evercurrent")
        self.problems: list[str] = []
        self.client: Any = None
        if is_configured(os.environ, Path.cwd()):
            try:
                from openlineage.client import OpenLineageClient

                self.client = OpenLineageClient()
            except Exception as problem:
                self.problems.append(f"OpenLineage: no events are sent: {type(problem).__name__}: {problem}")

    def start(self) -> None:
        self.send("START", self.pipeline, self.run, [], [])

    def end(self, datasets: list[Dataset], error: str | None) -> None:
        """The end of a run; with what it wrote if it was completed."""
        for dataset in datasets if error is None else ():
            self.dataset_event(dataset)
        self.send("COMPLETE" if error is None else "FAIL", self.pipeline, self.run, [], [], error)

    def dataset_event(self, dataset: Dataset) -> None:
        if self.client is None:
            return
        from openlineage.client.event_v2 import InputDataset, OutputDataset
        from openlineage.client.facet_v2 import column_lineage_dataset, schema_dataset

        fields = [schema_dataset.SchemaDatasetFacetFields(name=n, type=t) for n, t in dataset.columns.items()]
        facets: dict[str, Any] = {"schema": schema_dataset.SchemaDatasetFacet(fields=fields)}
        if dataset.lineage:
            facets["columnLineage"] = column_lineage_dataset.ColumnLineageDatasetFacet(
                fields={
                    column: column_lineage_dataset.Fields(
                        inputFields=[
                            column_lineage_dataset.InputField(self.namespace, d, f) for d, f in origins
                        ]
                    )
                    for column, origins in dataset.lineage.items()
                }
            )
        output = OutputDataset(self.namespace, dataset.name, facets=facets)
        inputs = [InputDataset(self.namespace, name) for name in dataset.inputs]
        self.send("COMPLETE", f"{self.pipeline}.{dataset.name}", self.run, inputs, [output])

    def send(
        self, state: str, job: str, run: str, inputs: list[Any], outputs: list[Any], error: str | None = None
    ) -> None:
        if self.client is None:
            return
        try:
            from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
            from openlineage.client.facet_v2 import error_message_run

            facets: dict[str, Any] = {}
            if error is not None:
                facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(error, "python")
            self.client.emit(
                RunEvent(
                    eventType=RunState[state],
                    eventTime=datetime.now(UTC).isoformat(),
                    run=Run(run, facets=facets),
                    job=Job(self.namespace, job),
                    producer=PRODUCER,
                    inputs=inputs,
                    outputs=outputs,
                )
            )
        except Exception as problem:
            self.problems.append(f"OpenLineage: an event was not sent: {type(problem).__name__}: {problem}")
            self.client = None
