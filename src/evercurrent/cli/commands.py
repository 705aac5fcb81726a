"""What each command does and shows. Names of views and values are data: rich reads no markup in them.

>>> from evercurrent.statements.run_record import ViewRun
>>> run = RunRecord(7, views=(ViewRun("[red]spend[/]", "delta", reason="few rows changed"),))
>>> list(views_table(run).columns[0].cells)
[<text '[red]spend[/]' [] ''>]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from evercurrent.cli.pipeline import define as define_pipeline
from evercurrent.cli.pipeline import steps
from evercurrent.cli.settings import Settings
from evercurrent.display import bytes_text
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.errors import StorageError
from evercurrent.statements.options import OnViolation
from evercurrent.statements.report import Report, Verified
from evercurrent.statements.run_record import HEADER, RIGHT, RunRecord, row_of
from evercurrent.warehouse.changes.quarantine import TABLE
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.integrity.check import check as check_files
from evercurrent.warehouse.integrity.repair import needs_warehouse, repair, repair_log


def bar(console: Console) -> Progress:
    """A bar that is there while something is going on, on a terminal only."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, transient=True)


def define(db: Warehouse, pipeline: Path, settings: Settings, console: Console) -> None:
    with bar(console) as progress:
        task = progress.add_task("defining", total=steps(pipeline, settings))
        for told in define_pipeline(db, pipeline, settings):
            progress.console.print(Text(f"  {told}"))
            progress.update(task, advance=1, description=f"defining: {told.partition(':')[0]}")


def refresh(
    db: Warehouse, full: Sequence[str], batch: str | None, on_violation: OnViolation, console: Console
) -> RunRecord:
    before = db.version
    with console.status("refreshing") as status:
        db.listen(lambda stage: status.update(Text(f"refreshing: {stage}")))
        try:
            run = db.refresh(full=full, batch=batch, on_violation=on_violation)
        finally:
            db.listen(False)
    if run.repeated:
        console.print(Text(str(run)))
    elif run.version == before:
        console.print(f"version {run.version}: nothing is new")
    else:
        console.print(Text(run.headline()))
        for note in run.notes:
            console.print(Text(f"  {note}", style="dim"))
        for name, rows in run.quarantined.items():
            console.print(Text(f"  {rows:,} changes of {name} were set aside in {TABLE}", style="yellow"))
        for warning in run.warnings:
            console.print(Text(f"  warning: {warning}", style="yellow"))
        console.print(views_table(run))
    return run


def views_table(run: RunRecord) -> Table:
    """What was done for each view."""
    table = Table()
    for name, right in zip(HEADER, RIGHT, strict=True):
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for v in run.views:
        table.add_row(*map(Text, row_of(v)))
    return table


def explain(db: Warehouse, view: str | None, stage: str | None, console: Console) -> None:
    if stage is None:
        console.print(Text(str(db.explain(view))))
        return
    for name in [view] if view else db.views:
        console.print(Text(str(db.view(name).explain(stage))))


def verify(db: Warehouse, views: Iterable[str], console: Console) -> Report:
    names = list(views)
    found: list[Verified] = []
    with bar(console) as progress:
        task = progress.add_task("verifying", total=len(names))
        for name in names:
            report = db.verify([name])
            found += report.views
            for one in report.views:
                style = "yellow" if one.skipped else "" if one else "red"
                progress.console.print(Text(str(one), style=style))
            progress.update(task, advance=1)
    return Report(tuple(found))


def history(db: Warehouse, last: int, console: Console) -> None:
    table = Table("version", "when", "what", "batch")
    for name in ("rows in", "rows changed", "read", "seconds"):
        table.add_column(name, justify="right")
    log = db._core.engine.log
    newest = log.latest()
    shown = range(max(newest - last, 0) + 1, newest + 1) if last > 0 else log.versions()
    for entry in map(log.entry, shown):
        run = RunRecord.of_json(entry.version, entry.batch, entry.record)
        table.add_row(
            str(entry.version),
            datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M:%S"),
            entry.kind,
            Text(entry.batch or ""),
            f"{sum(run.rows_in.values()):,}",
            f"{sum(v.rows_changed for v in run.views):,}",
            bytes_text(run.bytes_read),
            f"{run.seconds:.2f}",
        )
    console.print(table)


def check(folder: Folder, repairs: bool, opened: Callable[[], Warehouse], console: Console) -> bool:
    """Whether nothing is damaged, after repairs if they are asked for. Spark is started only to rebuild."""
    with console.status("reading all files"):
        report = repair_log(folder) if repairs else check_files(folder)
    if repairs and needs_warehouse(report):
        try:
            db = opened()
            with console.status("rebuilding"):
                report = repair(db._core, report)
        except StorageError as problem:  # it cannot be opened
            report.failure = str(problem)
    for file in report.repaired:
        console.print(Text(f"rebuilt: {file}"))
    if report.findings:
        table = Table("file", "what", "problem", "way out")
        for f in report.findings:
            table.add_row(
                Text(f.file, overflow="fold"), Text(f.what), Text(f.problem, style="red"), Text(f.way_out)
            )
        console.print(table)
    if report.failure:
        console.print(Text(f"no more could be rebuilt: {report.failure}", style="red"))
    console.print(Text(report.headline()))
    return not report.findings


def compact(db: Warehouse, keep: int, hours: float, console: Console) -> None:
    with console.status("compacting"):
        merged = db.compact()
        freed = db.vacuum(keep=keep, hours=hours)
    console.print(f"{merged} stores were merged, {bytes_text(freed)} were freed")
