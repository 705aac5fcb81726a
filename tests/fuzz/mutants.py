"""Deliberate bugs, which the fixed budget must catch: a test that cannot fail is no test.

A mutant is a small change of the source: some text, which must stand exactly once in the package, and what replaces it. It
is applied to a copy of the package in a folder of its own (`mutate`), never to the tree.

    Mutant("min-after-deletion", old="if args == self.first:", new="if False:", likely=("views",))

`likely` are the campaigns that are tried first; all others of the budget follow.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One deliberate bug. `spark`: only campaigns on Spark can see it. `also`: further texts and what replaces them."""

    name: str
    old: str
    new: str
    likely: tuple[str, ...] = ("views",)
    spark: bool = False
    also: tuple[tuple[str, str], ...] = ()

    def patches(self) -> tuple[tuple[str, str], ...]:
        return ((self.old, self.new), *self.also)


DELTAS = (
    Mutant(
        "anti join with the wrong sign",
        "signs: list[Term] = [weight] if sign > 0 else [MINUS_ONE, weight]",
        "signs: list[Term] = [weight]",
        ("plans", "views"),
    ),
    Mutant(
        "left join keeps its padding",
        "            return [(1, False), (-1, True)]",
        "            return [(1, False)]",
        ("plans", "views"),
    ),
    Mutant(
        "sum of no values is zero",
        "            return unless_empty(count_arguments(a, parts), check(total, a.type), scalar)",
        "            return check(total, a.type)",
        ("plans", "views"),
    ),
    Mutant(
        "NULL counts as a value",
        "    conditions = [c for x in a.args for c in not_null(x)]",
        "    conditions: list[Term] = []",
        ("views", "plans"),
    ),
    Mutant(
        "EXCEPT ALL as EXCEPT",
        'count = case(((call("gt", side, other), call("ring_sub", side, other)),), ZERO)',
        'count = case(((call("gt", side, other), ONE),), ZERO)',
        ("plans", "views"),
    ),
    Mutant(
        "deletions are skipped where several tables change",
        ".weights.items() if item[1] < 0])",
        ".weights.items() if item[1] < -1])",
    ),
    Mutant(
        "insertions before deletions",
        "        items.sort(key=_is_positive)",
        "        pass",
        ("views", "plans"),
    ),
)

STATES = (
    Mutant(
        "an index keeps a deleted entry", "        bucket.pop(rest, None)\n", "        pass\n", ("views",)
    ),
    Mutant(
        "an index misses new entries",
        "    def put_others(self, payload: str) -> None:\n",
        "    def put_others(self, payload: str) -> None:\n        return\n",
        ("plans", "views"),
    ),
    Mutant(
        "minimum stays after its deletion",
        "            if args == self.first:\n                self.first = NONE",
        "            if args == self.first and not self.counts:\n                self.first = NONE",
        ("plans", "views"),
    ),
    Mutant(
        "DISTINCT counts every change",
        "        if (held > 0) != (count > 0):",
        "        if held != count:",
        ("views",),
    ),
    Mutant(
        "top-k is not refilled",
        "        return self.end > 0 and not group[self.end - 1][0] < self.sort(row)",
        "        return self.end > 0 and group[self.end - 1][0] > self.sort(row)",
        ("plans", "views"),
    ),
    Mutant(
        "recursion deletes without rederiving",
        "            supported = self.multiplicity(row)",
        "            supported = 0 if self.before.get(row) else self.multiplicity(row)",
        ("views",),
    ),
    Mutant(
        "recursion trusts a cycle",
        "(not self.distinct or self.outside.get(row) <= 0):",
        "(not self.distinct or self.counts.get(row) <= 0):",
        ("views",),
    ),
    Mutant(
        "infinity never leaves a sum",
        "        ups += weight",
        "        ups += abs(weight)",
        ("views",),
    ),
    Mutant(
        "window reads a row once",
        "                for _ in range(weight - 1):\n                    yield sort, row\n",
        "",
        ("plans", "views"),
    ),
    Mutant(
        "LAG follows its next neighbour alone",
        "            yield rows.back(change.sort, far), rows.forward(change.sort, far)",
        "            yield change.sort, rows.forward(change.sort, 1)",
        ("windows",),
    ),
    Mutant(
        "RANK stays behind a change",
        "        if moved:\n            yield (*keys[-1], TOP), None\n",
        "",
        ("windows",),
    ),
)

TRANSACTIONS = (
    Mutant(
        "undo forgets the first change",
        "    for where, key, old in reversed(journal[begin:] if begin else journal):",
        "    for where, key, old in reversed(journal[begin + 1 :]):",
        ("views", "faults"),
    ),
    Mutant(
        "undo of sorted groups is forgotten",
        '                self.w.line(f"journal(({group}.{inverse}, {group_key}, {row}))")',
        "                pass",
        ("views", "faults"),
    ),
    Mutant(
        "an undone transaction waits for lazy views",
        "    def undo(self) -> None:\n        self._moved = None\n",
        "    def undo(self) -> None:\n",
        ("views",),
    ),
    Mutant(
        "lazy views drop weights",
        "total.add(tuple(v if i in used else None for i, v in enumerate(row)), weight)",
        "total.add(tuple(v if i in used else None for i, v in enumerate(row)), 1 if weight > 0 else -1)",
        ("views",),
    ),
    Mutant(
        "a parent may leave its children",
        "if any(key not in patch.after and counts.get(key) for key in patch.before):",
        "if any(key not in patch.after and counts.get(key) and not patch.after for key in patch.before):",
        ("views",),
    ),
    Mutant(
        "a key may be there twice",
        "        if not free or len(after) < len(inserted) or (",
        "        if len(after) < len(inserted) or (",
        ("views",),
    ),
    Mutant(
        "subscribers hear of rows that stay",
        "        return [self._give(row) for row in self._delta.deletions()]",
        "        return [self._give(row) for row, w in self._delta.items() for _ in range(abs(w))]",
        ("views",),
    ),
)

ASSUMPTIONS = (
    Mutant(
        "a replaced child counts as gone",
        "above = [up for up in own if not self.unsteady(up).isdisjoint(map(up.child_key, (old, new)))]",
        "above: list[_Link] = []",
        ("assumptions", "views"),
    ),
    Mutant(
        "a replaced parent is missing for a while",
        "self.engine.apply(moving, known[3], verdict.together)",
        "self.engine.apply(moving, known[3])",
        ("object_assumptions", "assumptions", "views", "objects"),
    ),
    Mutant(
        "a parent that changes breaks no assumption",
        "                        self.broken.add(link.pair)",
        "                        pass",
        ("assumptions", "views"),
    ),
)

FAULTS = (
    Mutant(
        "nobody finishes what an interrupt left",
        "        self.lock.hint = self\n        self.lock.settle()\n",
        "        self.lock.hint = self\n",
        ("faults",),
    ),
)

VALUES = (
    Mutant(
        "an average may be any NaN",
        'return not_nan(f"{s} / {n} + 0.0")',
        'return f"({s} / {n})"',
        ("views", "matrix"),
    ),
    Mutant(
        "zero keeps its sign",
        "    return value + 0.0 if value == value else NAN",
        "    return value if value == value else NAN",
        ("matrix", "views"),
    ),
    Mutant(
        "an amount reads a name that no test has bound",
        '        return self.value if any(":=" in g for g in self.guards) else self.source',
        "        return self.source",
        ("views", "matrix"),
        also=(("        _prepare_operands(scope, amount)\n", ""),),
    ),
    Mutant(
        "a lambda takes no position",
        '        others = ["*_"] if len(names) == 1 else []',
        "        others: list[str] = []",
        ("matrix",),
    ),
)

RECENT = (
    Mutant(
        "a bag of a recursion loses more than it has",
        "            if w < 0 and self.present[row] and (",
        "            if w < 0 and (self.present[row] or not self.distinct) and (",
        ("trees",),
        also=(("                lost = min(-w, self.present[row])", "                lost = -w"),),
    ),
    Mutant(
        "what an outer join pads is taken for what it matches",
        '            if s.mode == "outer" and matched.isdisjoint(key):\n                continue\n',
        "",
        ("plans",),
    ),
    Mutant(
        "an entry that is no longer alone has no weight",
        "            if was_unique and not is_unique:\n                parts = [1, *parts]\n            elif",
        "            if",
        ("views",),
    ),
    Mutant(
        "a small change overwrites a key",
        '            free = "n in rows" if self.old is None else "n',
        '            free = "False" if self.old is None else "n',
    ),
    Mutant(
        "ON CONFLICT leaves the old row",
        "        transaction.change(name, [*((one, -1) for one in old), (new, 1)])\n        written",
        "        transaction.change(name, [(new, 1)])\n        written",
    ),
    Mutant(
        "the file keeps deleted rows",
        "self.tables[name].change(connection, delta.weights)",
        "self.tables[name].change(connection, {r: w for r, w in delta.weights.items() if w > 0})",
        ("durable", "views"),
    ),
    Mutant(
        "an interrupt leaves a class half written",
        "    kind.traits = None  # until all is written: an interrupt must not leave a class half written\n",
        "    kind.traits = traits\n",
        ("definitions",),
    ),
)

COLUMNS = (
    Mutant(
        "a column that is compared with two terms is compared with one",
        "            same = _equal(vectors[i], clear_nulls(f(batch)))\n",
        "            same = _equal(vectors[i], vectors[i])\n",
        ("plans",),
    ),
    Mutant(
        "columns forget what a group was",
        "        for part, sign in ((old, -1), (new, 1)):",
        "        for part, sign in ((new, 1),):",
        ("bulk", "views"),
    ),
    Mutant(
        "columns pass over deletions",
        "            self._run(name, deltas[name].select_sign(-1), followed)\n",
        "            pass\n",
        ("bulk", "views"),
    ),
    Mutant(
        "a left join over columns drops rows without a match",
        "    if not alone.any():\n",
        "    if alone.any():\n",
        ("bulk", "views"),
    ),
    Mutant(
        "a rank over columns has no peers",
        "                return Vector(rows.peers - rows.starts + 1)",
        "                return Vector(rows.places - rows.starts + 1)",
        ("bulk", "views"),
    ),
    Mutant(
        "a load may repeat a key",
        "            if not marked[ids[held]].all():",
        "            if not len(ids):",
        ("bulk",),
    ),
    Mutant(
        "undo of columns forgets the sums",
        "                own[ids] = old\n",
        "                pass\n",
        ("bulk",),
    ),
    Mutant(
        "a load does not count references",
        "            change.counts.append(self._count(reference, inserted, gone))",
        "            change.counts.append((NONE, NONE, NONE))",
        ("bulk",),
    ),
)

RANGES = (
    Mutant(
        "a range includes its bound",
        '        bound = other, comparison in ("lt", "gt", "ne")',
        "        bound = other, False",
        ("sums", "views"),
    ),
    Mutant(
        "a range leaves its bound out, whatever is asked",
        "1 if bound[1] is behind else 0",
        "1 if behind else 0",
        ("sums",),
    ),
    Mutant(
        "a range that moves forgets its upper end",
        "            yield from group.read(min(b, d), max(b, d))\n",
        "            pass\n",
        ("sums",),
    ),
    Mutant(
        "a bound that moves is that of any other row",
        "return tuple(i for i in width if position(i) in fixed), change",
        "return (), change",
        ("sums",),
    ),
    Mutant(
        "sums over ranges forget whole buckets",
        "                        tree[n] += x\n",
        "                        pass\n",
        ("sums", "bulk"),
    ),
    Mutant(
        "NaN is before every number of a range",
        "            key = TOP if key != key else key\n            b = find(self.lasts, key)",
        "            b = find(self.lasts, key)",
        ("sums",),
    ),
    Mutant(
        "a product that overflows is taken apart",
        "            return result if result < 1 << (type.bits - 1) else None",
        "            return result",
        ("sums",),
    ),
    Mutant(
        "a product of floats is not rounded",
        "    if factors > 1 and n and abs(n).bit_length() - ((n & -n).bit_length() - 1) > bits:",
        "    if factors > 1 and n and abs(n).bit_length() > 1000:",
        ("sums",),
    ),
)

WINDOWS = (
    Mutant(
        "a frame of rows reaches one row too few",
        "                return rows.forward(sort, max(-offset, 0))",
        "                return rows.forward(sort, max(-offset - 1, 0))",
        ("windows",),
    ),
    Mutant(
        "shares of a partition stay when it grows",
        "            if marks != [e.mark(group) for e in self.evaluators]:",
        "            if False:",
        ("windows",),
    ),
    Mutant(
        "peers in two chunks count twice",
        "            peers -= 1\n",
        "            pass\n",
        ("windows",),
    ),
)

KEEPING = (
    Mutant(
        "objects are undone before the file was asked",
        "                elif self.committing is None:\n",
        "                elif True:\n",
        ("durable",),
    ),
    Mutant(
        "nobody asks the file whether it holds a transaction",
        "            and self.keeper.has_written(transaction)\n",
        "            and False\n",
        ("durable",),
    ),
)

ON_SPARK = (
    Mutant(
        "a wider integer is written as it is",
        "    return value.try_cast(spark_type(wanted))\n",
        "    return value\n",
        ("warehouse",),
        spark=True,
    ),
    Mutant(
        "the driver adds what it should subtract",
        "into[key] = into.get(key, 0) + sign * {times}",
        "into[key] = into.get(key, 0) + {times}",
        ("warehouse",),
        spark=True,
    ),
    Mutant(
        "Spark reads constants as they are quoted",
        "        return string_text(token.text)",
        '        return "\'" + token.text.replace("\'", "\'\'") + "\'"',
        ("constants",),
        spark=True,
        also=(('"spark.sql.variable.substitute": "false"', '"spark.sql.variable.substitute": "true"'),),
    ),
    Mutant(
        "a task inserts what it should delete",
        "Vector(total_of(rows.column(W)))",
        "Vector(abs(total_of(rows.column(W))))",
        ("warehouse",),
        spark=True,
    ),
    Mutant(
        "tasks forget a piece that they merge",
        "    segments = [p.segment for p in pieces]\n    function = partial(merge_range",
        "    segments = [p.segment for p in pieces[1:] or pieces]\n    function = partial(merge_range",
        ("warehouse",),
        spark=True,
    ),
    Mutant(
        "a merge forgets the newest segment",
        "        rows = pyarrow.concat_tables([self.reader.whole(f, s, arrow) for f, s in files])",
        "        rows = pyarrow.concat_tables([self.reader.whole(f, s, arrow) for f, s in files[:-1]])",
        ("warehouse",),
        spark=True,
    ),
    Mutant(
        "files that a source has dropped keep their rows",
        "all_rows(then, gone, -1), Reading",
        "Reading",
        ("sources",),
        spark=True,
    ),
)

MUTANTS = (
    *DELTAS,
    *STATES,
    *TRANSACTIONS,
    *ASSUMPTIONS,
    *FAULTS,
    *VALUES,
    *RECENT,
    *COLUMNS,
    *RANGES,
    *WINDOWS,
    *KEEPING,
    *ON_SPARK,
)
