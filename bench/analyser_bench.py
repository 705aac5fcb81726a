"""The analyser under the history of a library: a changed class against the analysis from scratch, by the size of the
change, and each analysis with the optimiser off and on."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections import defaultdict
from statistics import mean, median
from unittest.mock import patch

from bench.history import Change, Classes, history, jars
from bench.measure import machine, quiet
from bench.report import Result, Table
from examples.analyser.analyser import Analyser
from examples.analyser.bugs import CODES, Bug
from examples.analyser.classfile import read
from examples.analyser.facts import Facts, facts
from examples.analyser.reference import Program, analyse
from examples.analyser.sources import Place

ABOUT = (
    "The fifteen analyses of `examples/analyser` (Mitschke et al. 2014, table 2) over the releases of one Java library, taken "
    "as its history: first all classes of the first release at once, then every class that a later release adds, changes "
    "or removes as a transaction of its own, from its bytes to the bugs. *From scratch* is the same analysis over "
    "plain Python lists, and the same views filled again; both start from the bytes of all classes of the release, and the "
    "bugs are compared after every release."
)


def run(quick: bool) -> Result:
    releases = jars()[:6] if quick else jars()
    first, changes = history(releases)
    about = f"{ABOUT} {len(releases)} releases, {releases[0].stem} to {releases[-1].stem}: {len(first)} classes at first, {len(changes):,} changes."
    tables = [
        replay(first, changes),
        sizes(first, changes),
        memory(first, changes, quick),
        optimiser(first, changes, quick),
    ]
    return Result("analyser", about, tables, machine(), quick)


# --- a change against all -------------------------------------------------------------------------------------


def scratch(present: Classes) -> tuple[float, float, list[Bug]]:
    """Seconds to read all classes, and to analyse them with plain lists."""
    with quiet():
        start = time.process_time()
        rows = [facts(read(data)) for data in present.values()]
        middle = time.process_time()
        bugs = analyse(Program(rows))
        return middle - start, time.process_time() - middle, bugs


def anew(present: Classes) -> tuple[float, list[Bug]]:
    """Seconds to read all classes and to fill the views; defining them is not counted."""
    fresh = Analyser()
    with quiet():
        start = time.process_time()
        fresh.change(present.items())
        return time.process_time() - start, fresh.bugs()


def replay(first: Classes, changes: list[Change]) -> Table:
    table = Table(
        "A changed class against all classes: milliseconds of CPU time",
        [
            "release",
            "classes",
            "changed",
            "rows a change",
            "a change (mean)",
            "a change (median)",
            "plain lists, from scratch",
            "views, filled again",
            "plain / change",
            "views / change",
        ],
    )
    live = Analyser()
    live.change(first.items())
    present = dict(first)
    by_release: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        by_release[change.release].append(change)
    warm_up(live, changes)
    totals: list[tuple[float, float, float]] = []
    releases: list[tuple[float, float, float]] = []
    for release, batch in by_release.items():
        times, rows = [], []
        with quiet():
            for change in batch:
                start = time.process_time()
                rows.append(live.change([(change.place, change.data)]))
                times.append(time.process_time() - start)
        for change in batch:
            present.pop(change.place, None)
            if change.data is not None:
                present[change.place] = change.data
        reading, analysing, expected = scratch(present)
        filling, again = anew(present)
        require(live.bugs() == expected == again)
        plain = reading + analysing
        totals += [(each, plain, filling) for each in times]
        releases.append((sum(times), plain, filling))
        table.rows.append(
            [
                release,
                len(present),
                len(batch),
                mean(rows),
                mean(times) * 1e3,
                median(times) * 1e3,
                plain * 1e3,
                filling * 1e3,
                plain / mean(times),
                filling / mean(times),
            ]
        )
    each, plain, filling = (mean(column) for column in zip(*totals, strict=True))
    middle = median(t for t, _, _ in totals)
    table.rows.append(
        [
            "all",
            None,
            len(totals),
            None,
            each * 1e3,
            middle * 1e3,
            plain * 1e3,
            filling * 1e3,
            plain / each,
            filling / each,
        ]
    )
    table.notes.append(
        f"Against the median change: {plain / middle:,.0f} times (plain lists), {filling / middle:,.0f} times (views)."
    )
    table.notes.append(note_releases(releases))
    return table


def note_releases(releases: list[tuple[float, float, float]]) -> str:
    """Both ways to count: the paper analyses again for each revision, which may change several classes.

    >>> note_releases([(0.1, 0.5, 1.0), (0.3, 0.5, 1.0)])
    'Per release, all its changed classes one by one against one analysis from scratch: 2.5 times (plain lists), 5.0 times (views).'
    """
    changing, plain, filling = (sum(column) for column in zip(*releases, strict=True))
    return (
        "Per release, all its changed classes one by one against one analysis from scratch: "
        f"{plain / changing:.1f} times (plain lists), {filling / changing:.1f} times (views)."
    )


def warm_up(live: Analyser, changes: list[Change]) -> None:
    """The first transaction of a kind compiles what it runs."""
    place = next(change.place for change in changes if change.place in live.names)
    known = live.first(live.names[place])
    live.replace([(place, None)])
    live.replace([(place, known)])


# --- by the size of the change --------------------------------------------------------------------------------


def sizes(first: Classes, changes: list[Change]) -> Table:
    table = Table(
        "By the size of the change: milliseconds of CPU time",
        ["classes in a change", "changes", "rows a change", "a change", "a class", "plain lists / change"],
    )
    last = dict(first)
    for change in changes:
        last.pop(change.place, None)
        if change.data is not None:
            last[change.place] = change.data
    reading, analysing, expected = scratch(last)
    for size in (1, 3, 10, 30, 100, 300):
        live = Analyser()
        live.change(first.items())
        warm_up(live, changes)
        times, rows, count = [], [], []
        with quiet():
            for at in range(0, len(changes), size):
                # A class that changes twice in a group changes to its last version.
                group = {change.place: change.data for change in changes[at : at + size]}
                start = time.process_time()
                rows.append(live.change(group.items()))
                times.append(time.process_time() - start)
                count.append(len(group))
        require(live.bugs() == expected)
        each = mean(times)
        per_class = sum(times) / sum(count)
        table.rows.append(
            [size, len(times), mean(rows), each * 1e3, per_class * 1e3, (reading + analysing) / each]
        )
    table.notes.append(
        f"From scratch, over the {len(last)} classes of the last release: {reading * 1e3:,.0f} ms to read them, "
        f"{analysing * 1e3:,.0f} ms to analyse them with plain lists."
    )
    return table


# --- memory ---------------------------------------------------------------------------------------------------


def memory(first: Classes, changes: list[Change], quick: bool) -> Table:
    """Figure 13b of the paper: how much more memory is in use after a change."""
    table = Table(
        "Memory: KiB more in use after a change, Python's own count, garbage collected before and after",
        [
            "classes in a change",
            "changes",
            "mean",
            "median",
            "least",
            "most",
            "bytes of the classes, mean KiB",
        ],
    )
    for size in (1, 10, 100):
        some = changes[: (8 if quick else 30) * size]
        more, given = [], []
        tracemalloc.start()
        try:
            live = Analyser()
            live.change(first.items())
            warm_up(live, changes)
            for at in range(0, len(some), size):
                group = {change.place: change.data for change in some[at : at + size]}
                before = count_memory()
                live.change(group.items())
                more.append(count_memory() - before)
                given.append(sum(len(data) for data in group.values() if data is not None))
        finally:
            tracemalloc.stop()
        figures = (mean(more), median(more), min(more), max(more), mean(given))
        table.rows.append([size, len(more), *(each / 1024 for each in figures)])
    kept = sum(len(data) for data in first.values()) / 1024
    table.notes.append(
        f"The {len(first)} classes of the first release have {kept:,.0f} KiB. The paper: at most 120 KiB for a change of more "
        "than 250 classes, beside 1.39 MiB of classes."
    )
    return table


def count_memory() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def require(equal: bool) -> None:
    if not equal:
        raise SystemExit("the bugs are not those of the analysis from scratch, so there is no figure for it")


# --- the optimiser --------------------------------------------------------------------------------------------


def optimiser(first: Classes, changes: list[Change], quick: bool) -> Table:
    """Each analysis alone, as the paper's table 2 has it."""
    some = changes[: 100 if quick else 600]
    table = Table(
        f"Each analysis alone: all classes of the first release, then {len(some):,} changes, already read; CPU time",
        ["", "analysis", "seconds, rules off", "seconds, rules on", "speedup", "entries off", "entries on"],
    )
    start = [(place, facts(read(data))) for place, data in first.items()]
    steps = [(c.place, None if c.data is None else facts(read(c.data))) for c in some]
    for letter, code in zip("ABCDEFGHIJKLMNO", CODES, strict=True):
        with patch("evercurrent.design.compile.optimise", lambda plan, knowledge: plan):
            off, entries_off, bugs = alone(code, start, steps)
        on, entries_on, same = alone(code, start, steps)
        require(bugs == same)
        table.rows.append([letter, code, off, on, off / on, entries_off, entries_on])
    table.notes.append(
        "Off are the rules of the algebra (pushing, pruning, sharing, ordering). What the paper gains most from, that joins "
        "find their keys and filters stand before what is kept, is not theirs here: a join is compiled as one block, "
        "and its delta looks others up by all conditions it can."
    )
    table.notes.append(
        "Each takes a third to half a second, so differences of up to a third are the machine's."
    )
    return table


Step = tuple[Place, Facts | None]


def alone(code: str, start: list[Step], steps: list[Step]) -> tuple[float, int, list[Bug]]:
    live = Analyser([code])
    with quiet():
        begin = time.process_time()
        live.replace(start)
        for step in steps:
            live.replace([step])
        taken = time.process_time() - begin
    return taken, live.db.stats().entries, live.bugs()
