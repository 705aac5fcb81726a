"""The fifteen patterns: positive and negative cases in Java, from scratch and as live views, which must agree for good."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from examples.analyser.analyser import Analyser
from examples.analyser.bugs import CODES, TITLES, Bug
from examples.analyser.classfile import read
from examples.analyser.facts import Facts, facts
from examples.analyser.patterns import PATTERNS
from examples.analyser.reference import ANALYSES, Program, analyse
from examples.analyser.sources import Place, load, scan
from tests.examples.conftest import JAVA, compile_java

EXPECTED = {
    "BX_BOXING_IMMEDIATELY_UNBOXED_TO_PERFORM_COERCION": {"Boxing.boxedByValueOf", "Boxing.constructed"},
    "CL_CONFUSED_INHERITANCE": {"Inheritance.confused", "Inheritance.alsoConfused"},
    "CN_IDIOM": {"Clones$NeverCloned"},
    "CN_IDIOM_NO_SUPER_CALL": {"Clones$Indirect.clone", "Clones$NoSuperCall.clone"},
    "DM_GC": {"Collecting.tidy", "Collecting.tidyRuntime"},
    "DM_RUN_FINALIZERS_ON_EXIT": {"Collecting.leaving", "Collecting.leavingByRuntime"},
    "DP_DO_INSIDE_DO_PRIVILEGED": {
        "Privileges.open",
        "Privileges$Indirectly.notRun",
        "Privileges$RunsOtherwise.run",
    },
    "EQ_ABSTRACT_SELF": {"Equality.equals"},
    "FL_PUBLIC_SHOULD_BE_PROTECTED": {"Finalizers.finalize"},
    "IMSE_DONT_CATCH_IMSE": {"Monitors.caught", "Monitors.caughtAmongOthers"},
    "MS_PKGPROTECT": {"Statics.NUMBERS", "Statics.TABLE", "Statics.counter"},
    "MS_SHOULD_BE_FINAL": {
        "Inheritance.alsoConfused",
        "Statics.constant",
        "Statics.emptyToo",
        "Statics.readOutside",
    },
    "SE_BAD_FIELD_INNER_CLASS": {"Inner$1.this$0", "Inner$Member.this$0"},
    "SW_SWING_METHODS_INVOKED_IN_SWING_THREAD": {"Windows.main"},
    "UG_SYNC_SET_UNSYNC_GET": {"Locking.getArrays", "Locking.getCount"},
}
"""All that is to be found in the cases; everything else in them is a negative case."""


def test_the_codes_are_those_of_the_paper() -> None:
    assert len(CODES) == 15
    assert list(CODES) == list(TITLES) == list(ANALYSES) == list(PATTERNS) == list(EXPECTED)
    assert list(CODES) == sorted(CODES)


@pytest.fixture(scope="module")
def classes(compiled: Path) -> dict[Place, Facts]:
    return {place: facts(read(data)) for place, data in load(sorted(scan(compiled)))}


@pytest.fixture(scope="module")
def shared() -> Analyser:
    """One analyser for many tests: defining fifteen views takes longer than most of what is done with them."""
    return Analyser()


@pytest.fixture
def live(shared: Analyser) -> Analyser:
    shared.replace([(place, None) for place in list(shared.names)])
    assert shared.bugs() == []
    return shared


def places(bugs: Iterable[Bug], code: str) -> set[str]:
    found = (bug for bug in bugs if bug.pattern == code)
    return {".".join(filter(None, (b.owner.removeprefix("cases/"), b.member.split("(")[0]))) for b in found}


def scratch(classes: Iterable[Facts]) -> list[Bug]:
    return analyse(Program(classes))


@pytest.mark.parametrize("code", CODES)
def test_a_pattern_finds_its_cases_and_no_others(
    code: str, classes: dict[Place, Facts], shared: Analyser
) -> None:
    shared.replace(classes.items())
    assert places(scratch(classes.values()), code) == EXPECTED[code]
    assert places(shared.bugs(), code) == EXPECTED[code]


def test_bugs_stand_on_their_lines(classes: dict[Place, Facts], live: Analyser) -> None:
    live.replace(classes.items())
    source = (JAVA / "cases" / "Windows.java").read_text().splitlines()
    lines = sorted(live.line(bug) or 0 for bug in live.bugs() if bug.pattern.startswith("SW_"))
    assert [source[line - 1].strip() for line in lines] == [
        "frame.pack();",
        "frame.setVisible(true);",
        "new Big().pack();",
    ]


def test_each_class_alone_and_all_in_any_order(classes: dict[Place, Facts], live: Analyser) -> None:
    order = list(classes.items())
    random.Random(3).shuffle(order)
    for number, step in enumerate(order):
        live.replace([step])
        if number % 5 == 0:
            assert live.bugs() == scratch(f for _, f in order[: number + 1])
    assert live.bugs() == scratch(classes.values())


@pytest.mark.parametrize("seed", range(3))
def test_random_changes_against_the_analysis_from_scratch(
    seed: int, classes: dict[Place, Facts], live: Analyser
) -> None:
    chance = random.Random(seed)
    here: dict[Place, Facts] = {}
    for _ in range(40):
        some = chance.sample(sorted(classes), chance.choice((1, 1, 2, 10)))
        live.replace([(place, None if place in here else classes[place]) for place in some])
        for place in some:
            if here.pop(place, None) is None:
                here[place] = classes[place]
        assert live.bugs() == scratch(here.values())


EDITS = {
    "BX_BOXING_IMMEDIATELY_UNBOXED_TO_PERFORM_COERCION": (
        "Boxing",
        "new Double(d).intValue()",
        "new Double(d + 1).byteValue() + (int) d",
        0,
    ),
    "CN_IDIOM": ("Clones", "int x;", "Object y() throws Exception { return clone(); }", -1),
    "CN_IDIOM_NO_SUPER_CALL": (
        "Clones",
        "interface Copyable extends Cloneable {}",
        "interface Copyable {}",
        -1,
    ),
    "DM_GC": ("Collecting", "void tidyRuntime", "void tidyRuntimeGC", -1),
    "DP_DO_INSIDE_DO_PRIVILEGED": (
        "Privileges",
        "interface Action extends PrivilegedAction<Void> {}",
        "interface Action { Void run(); }",
        1,
    ),
    "FL_PUBLIC_SHOULD_BE_PROTECTED": (
        "Finalizers",
        "public void finalize()",
        "protected void finalize()",
        -1,
    ),
    "MS_PKGPROTECT": ("Statics", "public static int counter;", "static int counter;", -1),
    "MS_SHOULD_BE_FINAL": ("Statics", "counter++;", "counter++; readOutside = 1;", -1),
    "SE_BAD_FIELD_INNER_CLASS": (
        "Inner",
        "public class Inner {",
        "public class Inner implements Serializable {",
        -2,
    ),
    "SW_SWING_METHODS_INVOKED_IN_SWING_THREAD": (
        "Windows",
        "static class Frame extends JFrame {}",
        "static class Frame { void pack() {} }",
        0,
    ),
    "UG_SYNC_SET_UNSYNC_GET": (
        "Locking",
        "public int getCount()",
        "public synchronized int getCount()",
        -1,
    ),
}
"""A change of the source of a case, and by how many the places grow at which the pattern is found."""


def test_edits_of_the_sources_change_the_bugs(
    compiled: Path, tmp_path: Path, live: Analyser, classes: dict[Place, Facts]
) -> None:
    """Each edit reaches the bugs, through other classes too, and is gone with the old version."""
    sources = {}
    for code, (name, old, new, _) in EDITS.items():
        text = sources.get(name, (JAVA / "cases" / f"{name}.java").read_text())
        assert old in text, code
        sources[name] = text.replace(old, new)
    for name, text in sources.items():
        (tmp_path / f"{name}.java").write_text(text)
    into = tmp_path / "classes"
    into.mkdir()
    others = [p for p in sorted(JAVA.rglob("*.java")) if p.stem not in sources]
    compile_java(into, *sorted(tmp_path.glob("*.java")), *others)
    versions = {p.relative_to(into): facts(read(p.read_bytes())) for p in into.rglob("*.class")}
    changed = {place: versions[place.path.relative_to(compiled)] for place in classes}
    changed = {place: new for place, new in changed.items() if new.rows != classes[place].rows}
    live.replace(classes.items())
    before = live.bugs()
    for place, new in changed.items():
        live.replace([(place, new)])
    now = scratch({**classes, **changed}.values())
    assert live.bugs() == now
    for code, (_, _, _, grown) in EDITS.items():
        assert len(places(now, code)) == len(EXPECTED[code]) + grown, code
    assert len([b for b in now if b.pattern.startswith("SW_")]) == 2
    live.replace([(place, classes[place]) for place in changed])
    assert live.bugs() == before  # `verify` has nothing to compare with: the tables store nothing


def test_the_first_of_two_files_of_a_class_counts(classes: dict[Place, Facts], live: Analyser) -> None:
    place = next(p for p in classes if p.path.name == "Boxing.class")
    first, second = Place(Path("a.jar"), "Boxing.class"), Place(Path("b.jar"), "Boxing.class")
    empty = classes[place]._replace(rows=(classes[place].rows[0], *[frozenset[object]()] * 5))
    live.replace([(second, classes[place])])
    assert len(live.bugs()) == 2
    live.replace([(first, empty)])
    assert live.bugs() == []
    live.replace([(first, None)])
    assert len(live.bugs()) == 2 and set(live.names) == {second}


def test_equal_rows_are_no_change(classes: dict[Place, Facts], live: Analyser) -> None:
    assert live.replace(classes.items()) > 1_000
    assert live.replace(classes.items()) == 0


def test_a_pattern_alone_finds_the_same(classes: dict[Place, Facts]) -> None:
    code = "UG_SYNC_SET_UNSYNC_GET"
    alone = Analyser([code])
    alone.replace(classes.items())
    assert places(alone.bugs(), code) == EXPECTED[code] and {b.pattern for b in alone.bugs()} == {code}


def test_the_tables_store_nothing(classes: dict[Place, Facts], live: Analyser) -> None:
    """Kept is only what joins look up: a small part of the instructions."""
    live.replace(classes.items())
    rows = sum(len(each.rows[4]) for each in classes.values())
    sizes = live.db.stats().sizes
    assert all(size.entries == 0 for size in sizes if size.kind == "table")
    assert sum(size.entries for size in sizes if "instruction" in size.name.lower()) < rows / 4
