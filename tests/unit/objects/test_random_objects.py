"""Random programs over a schema with every cardinality and every kind of collection, against a plain model.

The model keeps pairs of relationships as a set, attributes and collections as plain Python values, and does everything by
the book. After every transaction, committed or undone, the objects, both ends of every relationship, the tables and the views
must agree with it.
"""

from __future__ import annotations

import copy
import random

import pytest

import evercurrent as ec

ODL = """
class part (extent Parts) { attribute string label; };
class node (extent Nodes) {
    attribute string name; attribute long size; attribute decimal(8,2) price; attribute node next; attribute part made;
    attribute set<node> watch; attribute bag<long> marks; attribute list<node> route; attribute dictionary<string, node> named;
    attribute set<string> tags kept as array; attribute set<node> near kept as array;
    attribute struct spot {long x; node at;} place;
    relationship node wed inverse node::wed;
    relationship node heir inverse node::donor;
    relationship node donor inverse node::heir;
    relationship node boss inverse node::team;
    relationship set<node> team inverse node::boss;
    relationship node ship inverse node::crew;
    relationship list<node> crew inverse node::ship;
    relationship set<node> likes inverse node::liked;
    relationship set<node> liked inverse node::likes;
    relationship set<node> pals inverse node::pals;
    relationship list<node> reads inverse node::readers;
    relationship set<node> readers inverse node::reads;
};
class leaf extends node (extent Leaves) { attribute long colour; };
"""
VIEWS = {
    "sizes": "select name, size, price from Nodes",
    "teams": "select b.name, count(*) n, sum(e.size) s from Nodes e join Nodes b on e.boss = b.oid group by b.name",
    "watched": "select o.name a, e.name b from Nodes_watch w join Nodes o on o.oid = w.owner join Nodes e on e.oid = w.element",
    "routes": "select owner, position, element from Nodes_route",
    "marks": "select element, count(*) n from Nodes_marks group by element",
    "named": "select key, n.name from Nodes_named d join Nodes n on n.oid = d.element",
    "likes": "select owner, count(*) n from Nodes_likes group by owner",
    "crews": "select owner, position, element from Nodes_crew",
    "large_leaves": "select name, colour from Leaves where size > 2",
    "tags": "select name, tags from Nodes",
    "made": "select n.name, p.label from Nodes n join Parts p on n.made = p.oid",
}
PAIRS = {  # relationship: (its inverse, whether each end is one)
    "wed": ("wed", True, True),
    "heir": ("donor", True, True),
    "boss": ("team", True, False),
    "ship": ("crew", True, False),
    "likes": ("liked", False, False),
    "pals": ("pals", False, False),
    "reads": ("readers", False, False),
}


class Model:
    """Plain values: attributes of nodes by oid, and the pairs of relationships."""

    def __init__(self) -> None:
        self.nodes: dict[int, dict] = {}
        self.pairs: dict[str, list[tuple[int, int]]] = {r: [] for r in PAIRS}

    def link(self, r: str, a: int, b: int) -> None:
        inverse, one_a, one_b = PAIRS[r]
        if (a, b) in self.pairs[r]:
            return
        symmetric = inverse == r
        if one_a:
            self.pairs[r] = [p for p in self.pairs[r] if p[0] != a and not (symmetric and p[1] == a)]
        if one_b:
            self.pairs[r] = [p for p in self.pairs[r] if p[1] != b and not (symmetric and p[0] == b)]
        self.pairs[r].append((a, b))
        if symmetric and a != b:
            self.pairs[r].append((b, a))

    def unlink(self, r: str, a: int, b: int) -> None:
        self.pairs[r] = [p for p in self.pairs[r] if p != (a, b) and not (PAIRS[r][0] == r and p == (b, a))]

    def delete(self, oid: int) -> None:
        del self.nodes[oid]
        for r in self.pairs:
            self.pairs[r] = [p for p in self.pairs[r] if oid not in p]
        for n in self.nodes.values():
            n["next"] = None if n["next"] == oid else n["next"]
            n["watch"].discard(oid)
            n["route"] = [x for x in n["route"] if x != oid]
            n["named"] = {k: v for k, v in n["named"].items() if v != oid}
            if n["place"] is not None and n["place"][1] == oid:
                n["place"] = (n["place"][0], None)


def blank() -> dict:
    return dict(
        name=None, size=None, next=None, watch=set(), marks=[], route=[], named={}, tags=set(), place=None
    )


class Program:
    """One random program, run on both sides."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.db = ec.connect()
        self.db.odl(ODL)
        self.model = Model()
        self.at: dict[int, object] = {}
        self.part = self.db.new("part", label="x")

    def oid(self) -> int:
        return self.random.choice(list(self.model.nodes))

    def step(self) -> None:
        r, m, at = self.random, self.model, self.at
        kinds = [
            "new",
            "set",
            "next",
            "watch",
            "marks",
            "route",
            "named",
            "tags",
            "place",
            "link",
            "unlink",
            "delete",
            "made",
        ]
        what = r.choice(kinds) if len(m.nodes) > 2 else "new"
        if what == "new":
            size = r.randint(0, 5)
            thing = self.db.new(r.choice(["node", "leaf"]), name=f"n{r.randint(0, 4)}", size=size)
            m.nodes[thing.oid] = {**blank(), "name": thing.name, "size": size}
            at[thing.oid] = thing
            return
        a, b = self.oid(), self.oid()
        x, y, n = at[a], at[b], m.nodes[a]
        value = r.randint(0, 5)
        match what:
            case "set":
                x.size = n["size"] = value
                if r.random() < 0.5:
                    x.name = n["name"] = f"n{r.randint(0, 4)}"
                if r.random() < 0.3:
                    x.price = f"{value}.25"
            case "made":
                if r.random() < 0.5:
                    self.part.label = f"p{value}"
                else:
                    x.made = r.choice([None, self.part])
            case "next":
                x.next, n["next"] = (None, None) if value == 0 else (y, b)
            case "watch":
                if b in n["watch"]:
                    x.watch.remove(y)
                    n["watch"].remove(b)
                else:
                    x.watch.add(y)
                    n["watch"].add(b)
            case "marks":
                if value in n["marks"] and r.random() < 0.6:
                    x.marks.remove(value)
                    n["marks"].remove(value)
                else:
                    x.marks.add(value)
                    n["marks"].append(value)
            case "route":
                self.change_list(x.route, n["route"], y, b)
            case "named":
                key = f"k{r.randint(0, 2)}"
                if key in n["named"] and r.random() < 0.4:
                    del x.named[key], n["named"][key]
                else:
                    x.named[key], n["named"][key] = y, b
            case "tags":
                x.tags ^= {str(value)}
                n["tags"] ^= {str(value)}
            case "place":
                x.place, n["place"] = {"x": value, "at": y}, (value, b)
            case "link":
                self.link(r.choice(list(PAIRS)), a, b)
            case "unlink":
                self.unlink(r.choice(list(PAIRS)))
            case "delete":
                if r.random() < 0.5:
                    self.db.delete(x)
                    m.delete(a)
                    del at[a]

    def change_list(self, real, plain: list, y, b: int) -> None:
        r = self.random
        i = r.randint(0, len(plain))
        match r.randint(0, 6):
            case 0:
                real.append(y)
                plain.append(b)
            case 1:
                real.insert(i, y)
                plain.insert(i, b)
            case 2 if plain:
                real[i - 1], plain[i - 1] = y, b
            case 3 if plain:
                del real[i - 1 :: 2], plain[i - 1 :: 2]
            case 4:
                real[i : i + 2], plain[i : i + 2] = [y, y], [b, b]
            case 5:
                real.reverse()
                plain.reverse()
            case 6 if plain:
                real.pop()
                plain.pop()

    def link(self, name: str, a: int, b: int) -> None:
        inverse, one_a, one_b = PAIRS[name]
        x, y = self.at[a], self.at[b]
        if name in ("ship", "reads") and (a, b) in self.model.pairs[name]:
            return
        if self.random.random() < 0.5:
            x, y, first, one = y, x, inverse, one_b
        else:
            first, one = name, one_a
        if one:
            x[first] = y
        elif isinstance(x[first], list):
            x[first].append(y)
        else:
            x[first].add(y)
        self.model.link(name, a, b)

    def unlink(self, name: str) -> None:
        if not self.model.pairs[name]:
            return
        a, b = self.random.choice(self.model.pairs[name])
        inverse, one_a, one_b = PAIRS[name]
        if self.random.random() < 0.5:
            end, one, x, y = name, one_a, self.at[a], self.at[b]
        else:
            end, one, x, y = inverse, one_b, self.at[b], self.at[a]
        if one:
            x[end] = None
        else:
            x[end].remove(y)
        self.model.unlink(name, a, b)

    # --- comparing -----------------------------------------------------------------------------------------

    def check(self) -> None:
        m = self.model
        assert {x.oid for x in self.db.extent("Nodes")} == set(m.nodes)
        oid = lambda v: None if v is None else v.oid  # noqa: E731
        for a, n in m.nodes.items():
            x = self.at[a]
            assert (x.name, x.size, oid(x.next)) == (n["name"], n["size"], n["next"])
            assert {y.oid for y in x.watch} == n["watch"]
            assert sorted(x.marks) == sorted(n["marks"])
            assert [y.oid for y in x.route] == n["route"]
            assert {k: y.oid for k, y in x.named.items()} == n["named"]
            assert set(x.tags) == n["tags"]
            assert (None if x.place is None else (x.place.x, oid(x.place.at))) == n["place"]
            for name, (inverse, one_a, one_b) in PAIRS.items():
                to = {q for p, q in m.pairs[name] if p == a}
                back = {p for p, q in m.pairs[name] if q == a}
                for end, one, wanted in ((name, one_a, to), (inverse, one_b, back)):
                    held = [y.oid for y in ([x[end]] if one else x[end]) if y is not None]
                    assert set(held) == wanted, (end, a)
                    assert len(held) == len(wanted)
        self.check_tables()

    def check_tables(self) -> None:
        m, db = self.model, self.db
        rows = {r[0]: r for r in db.table("Nodes").rows()}
        assert set(rows) == set(m.nodes)
        names = db.table("Nodes").columns
        for a, n in m.nodes.items():
            row = dict(zip(names, rows[a], strict=True))
            assert (row["name"], row["size"], row["next"]) == (n["name"], n["size"], n["next"])
            assert sorted(row["tags"]) == sorted(n["tags"])
        route = {(a, i, b) for a, n in m.nodes.items() for i, b in enumerate(n["route"])}
        assert set(db.table("Nodes_route").rows()) == route
        marks = sorted((a, v) for a, n in m.nodes.items() for v in n["marks"])
        assert sorted(db.table("Nodes_marks").rows()) == marks
        assert sorted(db.table("Nodes_likes").rows()) == sorted(m.pairs["likes"])
        assert sorted(db.table("Nodes_pals").rows()) == sorted(m.pairs["pals"])
        crew = sorted((b, a) for a, b in m.pairs["ship"])
        assert sorted((o, e) for o, _, e in db.table("Nodes_crew").rows()) == crew


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int) -> None:
    p = Program(seed)
    r = p.random
    waiting = list(VIEWS.items())
    for i in range(60):
        if waiting and r.random() < 0.3:
            name, query = waiting.pop(r.randrange(len(waiting)))
            p.db.execute(f"CREATE VIEW {name} AS {query}")
            if r.random() < 0.2:
                p.db.view(name).subscribe(lambda change: None)
        if r.random() < 0.5:
            p.step()
        else:
            keep = r.random() < 0.6
            before, at = copy.deepcopy(p.model), dict(p.at)
            try:
                with p.db.transaction():
                    for _ in range(r.randint(1, 5)):
                        p.step()
                    if not keep:
                        raise KeyError
            except KeyError:
                p.model, p.at = before, at
        p.check()
        if i % 12 == 11:
            report = p.db.verify()
            assert report, report
