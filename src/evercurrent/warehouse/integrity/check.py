"""Is everything that lies in a warehouse what was written? Every file that a version mentions is read and compared with its digest.

    check(folder)        reads entries, snapshots, segments, sums of blocks, mapped copies; needs neither Spark nor a whole warehouse
    repair_files(...)    writes again what others hold a copy of (the rest of the way is `repairing`)

What was written before there were checksums is counted as unchecked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from evercurrent.engine.spark.storage import checksums, mapped_copy
from evercurrent.engine.spark.storage.checksums import SUFFIX, block_sums, read_sums, write_sums
from evercurrent.engine.spark.storage.disk import DamageError, MissingFileError
from evercurrent.engine.spark.storage.documents import unpack
from evercurrent.engine.spark.storage.files import Folder, Segment, way_out
from evercurrent.engine.spark.storage.log import Log
from evercurrent.engine.spark.storage.snapshots import RESTORE, Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName, parts_of, table_of
from evercurrent.errors import StorageError

NO_STORE = StoreName("")
Kind = Literal["entry", "head", "snapshot", "segment", "sums", "copy"]
REBUILD = "--repair rebuilds it"
OLDER = "only earlier versions need it: evercurrent compact --warehouse DIR --keep 1 --hours 0 removes them"


@dataclass(frozen=True)
class Finding:
    """Something that is damaged or missing.

    `store`: where a segment belongs; `current`: the newest version needs it; `order`: by which columns a copy is sorted.
    """

    file: str
    kind: Kind
    what: str
    problem: str
    way_out: str
    store: StoreName = NO_STORE
    current: bool = True
    order: tuple[str, ...] = ()

    @property
    def derived(self) -> bool:
        """Whether the tables of the newest version say what it held."""
        return self.kind == "segment" and self.current and table_of(self.store) is None


@dataclass
class CheckReport:
    """What was read and what was found. True if nothing is damaged. `repaired` says what was rebuilt, by file."""

    files: int = 0
    bytes: int = 0
    unchecked: int = 0
    findings: list[Finding] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    failure: str = ""  # why no more could be repaired

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        lines = [f"{f.file}: {f.what} is {f.problem}; {f.way_out}" for f in self.findings]
        lines += [f"{file}: rebuilt" for file in self.repaired]
        if self.failure:
            lines.append(f"no more could be rebuilt: {self.failure}")
        return "\n".join([*lines, self.headline()])

    def headline(self) -> str:
        damaged = f"{len(self.findings)} are damaged" if self.findings else "nothing is damaged"
        old = f", {self.unchecked} files have no checksum: they were written before there were any"
        return f"{self.files} files were read: {damaged}{old if self.unchecked else ''}"


@dataclass(frozen=True)
class Mention:
    """A file as the newest version that needs it mentions it."""

    file: str
    segment: Segment
    store: StoreName
    current: bool
    listed: int = 0  # the version that lists it as a change, if no snapshot mentions it


def check(folder: Folder) -> CheckReport:
    """Read everything."""
    report = CheckReport()
    log = Log(folder)  # without the entries that another one has in memory
    snapshots = dict(check_log(folder, log, report))
    for mention in mentions(log, snapshots):
        check_segment(folder, mention, report)
    return report


# --- the log -----------------------------------------------------------------------------------------------


def check_log(folder: Folder, log: Log, report: CheckReport) -> Iterator[tuple[int, Snapshot]]:
    """Check entries, heads and snapshots; yields the snapshots that can be read."""
    heads = set(log.heads())
    listed = log.list_versions()
    newest = max([*listed, *heads], default=0)
    kept = set(folder.disk.names(log.place / "snapshots"))
    oldest = 0
    for version in range(1, newest + 1):
        path = f"_log/{log.entry_name(version)}"
        what, hint = f"log entry of version {version}", REBUILD if version in heads else RESTORE
        try:
            report.files += 1
            entry = log.entry(version)
            report.unchecked += log.digest(version) is None
        except MissingFileError:
            report.findings.append(Finding(path, "entry", what, "missing", hint, current=version == newest))
            continue
        except DamageError as problem:
            problem_text = "damaged" if "checksum" in problem.message else problem.message
            report.findings.append(Finding(path, "entry", what, problem_text, hint))
            continue
        if entry.snapshot not in kept and not oldest and version != newest:
            continue  # vacuum has removed it
        oldest = oldest or version
        file = f"_log/snapshots/{entry.snapshot}"
        try:
            report.files += 1
            yield version, log.load_snapshot(version)
        except StorageError as problem:
            text = "missing" if entry.snapshot not in kept else "damaged"
            what = f"snapshot of version {version}"
            hint = (problem.hint or RESTORE) if version == newest else OLDER
            report.findings.append(Finding(file, "snapshot", what, text, hint, current=version == newest))
    for version in sorted(heads):
        check_head(folder, log, version, report)


def check_head(folder: Folder, log: Log, version: int, report: CheckReport) -> None:
    report.files += 1
    path = log.head_path(version)
    try:
        unpack(folder.disk.read(path), str(path))
    except MissingFileError:
        return  # another driver has written a newer one
    except StorageError:
        file = f"_log/heads/{path.name}"
        report.findings.append(
            Finding(file, "head", f"second copy of entry {version}", "damaged", REBUILD, current=False)
        )


def mentions(log: Log, snapshots: dict[int, Snapshot]) -> list[Mention]:
    """Each file once: by the newest snapshot, by an earlier one, or by an entry that lists it as a change."""
    found: dict[str, Mention] = {}
    newest = max(snapshots, default=0)
    for version in sorted(snapshots, reverse=True):
        for store, content in snapshots[version].stores.items():
            for segment in content.segments:
                for file in segment.files:
                    known = found.get(file)
                    if known is None or (table_of(store) is not None and table_of(known.store) is None):
                        current = version == newest or (known is not None and known.current)
                        found[file] = Mention(file, segment, store, current)
    for version in sorted(snapshots, reverse=True):
        for name, segment in log.entry(version).changes.items():
            for file in segment.files:
                found.setdefault(file, Mention(file, segment, StoreName(name), False, version))
    return list(found.values())


# --- segments ----------------------------------------------------------------------------------------------


def check_segment(folder: Folder, mention: Mention, report: CheckReport) -> None:
    """Check a file and what lies beside it."""
    file, path, own = mention.file, folder.path(mention.file), folder.digest_of(mention.file)
    report.files += 1
    report.unchecked += own is None
    try:
        checked = folder.open(file)
        checked.require_all()
        report.bytes += checked.size
    except (DamageError, MissingFileError) as problem:
        text = "missing" if isinstance(problem, MissingFileError) else "damaged"
        report.findings.append(
            Finding(
                file,
                "segment",
                describe_mention(mention),
                text,
                hint_of(mention),
                mention.store,
                mention.current,
            )
        )
        return
    if own is None:
        return
    if checked.size > checksums.SIDECAR:
        report.files += 1
        if read_sums(path, checked.size, own, folder.disk) is None:
            what = "list of block checksums"
            report.findings.append(
                Finding(file + SUFFIX, "sums", what, "damaged or missing", REBUILD, mention.store)
            )
    if folder.to_map(mention.segment):
        report.files += 1
        try:
            mapped_copy.Copy(path, own, folder.disk).checked.require_all()
        except (DamageError, MissingFileError) as problem:
            what = f"mapped copy of a {describe_mention(mention)}"
            text = "missing" if isinstance(problem, MissingFileError) else "damaged"
            order = mention.segment.order
            report.findings.append(
                Finding(file + mapped_copy.SUFFIX, "copy", what, text, REBUILD, mention.store, order=order)
            )


def describe_mention(mention: Mention) -> str:
    kind, name = parts_of(mention.store)
    if mention.listed:
        return f"change of {name or kind} in version {mention.listed}"
    if kind == "table":
        return f"segment of table {name}"
    if kind == "aside":
        return f"segment of the quarantined rows of {name}"
    return "segment of a view or state"


def hint_of(mention: Mention) -> str:
    if mention.listed or not mention.current:
        return OLDER
    return way_out(mention.store) if table_of(mention.store) is not None else f"{REBUILD} from the tables"


# --- what is written again ---------------------------------------------------------------------------------


def repair_files(folder: Folder, report: CheckReport) -> list[str]:
    """Write again what the warehouse holds elsewhere: entries from heads, heads from entries, sums from their files."""
    log, done = Log(folder), []
    entries = {f.file for f in report.findings if f.kind == "entry"}
    for version in log.heads():
        path, head = log.place / log.entry_name(version), log.head_path(version)
        file = f"_log/{log.entry_name(version)}"
        try:
            text = folder.disk.read(head)
            unpack(text, str(head))
        except StorageError:
            if file not in entries:
                log.write_head(version, folder.disk.read(path))
                done.append(f"_log/heads/{head.name}")
            continue
        if file in entries:
            folder.disk.replace(path, text)
            done.append(file)
    for finding in report.findings:
        if finding.kind == "sums":
            path_of = folder.path(finding.file.removesuffix(SUFFIX))
            data = folder.disk.map(path_of)
            write_sums(path_of, block_sums(data), data.size, folder.disk)
            done.append(finding.file)
    return done


def rebuild_copies(folder: Folder, report: CheckReport) -> list[str]:
    """Write mapped copies again from their files; `folder` is that of an open warehouse."""
    done = []
    for finding in report.findings:
        if finding.kind != "copy":
            continue
        file = finding.file.removesuffix(mapped_copy.SUFFIX)
        rows = folder.parquet(file, folder.looked_at.get(finding.store))
        mapped_copy.write(folder.path(file), rows, finding.order, folder.digest_of(file) or "", folder.disk)
        done.append(finding.file)
    return done
