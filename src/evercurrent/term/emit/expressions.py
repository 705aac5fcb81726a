"""A term as Python source.

The source of a strict function is written for arguments that are not NULL; which of its leaves can be NULL is kept
beside it as *guards*, and the test is made once, around the whole:

    a * (b + 1)     source (a * (b + 1)), guards a, b
    as a value      (None if a is None or b is None else (a * (b + 1)))
    as a condition  a is not None and b is not None and (a < b)

A condition is written in "is TRUE" form: Python's `and`, `or` and truth agree with SQL's there, since None is not true,
so no NULL is ever made only to be tested. A guard may bind a name with `:=`; it is read after it in the same expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from evercurrent.data.types import Struct, contains_float
from evercurrent.errors import InternalError
from evercurrent.term.emit.code import Code, all_of, any_of, is_atom, merge, product
from evercurrent.term.emit.ring import average, check, check_bound
from evercurrent.term.emit.writer import Namespace
from evercurrent.term.evaluate import compile_term
from evercurrent.term.function_table import FUNCTIONS, implementation
from evercurrent.term.functions.values.casts import cast_nulls, cast_python, cast_value, conversion
from evercurrent.term.nodes import (
    Apply,
    Call,
    Case,
    Cast,
    Column,
    Field,
    Lambda,
    Literal,
    Nested,
    Record,
    Term,
    Variable,
)
from evercurrent.term.nullable import nullable
from evercurrent.term.opaque import caller
from evercurrent.term.walk import children, columns_of, variables_of

DEEPEST = 24
"""Terms in terms that are written as one expression; Python allows 200 parentheses in each other."""


class Expressions:
    """Emits terms over columns whose sources are known.

    `known` maps terms that were computed before to their code; `fresh` returns names for locals. `trusted`: sums are known
    to be within their range.
    """

    def __init__(self, namespace: Namespace, columns: Mapping[str, str], fresh: Callable[[], str]) -> None:
        self.namespace = namespace
        self.columns = columns
        self.fresh = fresh
        self.known: dict[Term, Code] = {}
        self.variables: dict[str, str] = {}
        self.trusted = False
        self.nesting = 0

    # --- the three forms -----------------------------------------------------------------------------------

    def value(self, t: Term) -> str:
        """Source for the value; None where it is NULL."""
        return self.code(t).value

    def true(self, t: Term) -> str:
        """Source that is true in Python exactly where the term is TRUE."""
        if t in self.known or self.nesting >= DEEPEST:
            return self._test_null(self.code(t), "")
        self.nesting += 1
        source = self._true(t)
        self.nesting -= 1
        return source

    def _true(self, t: Term) -> str:
        match t:
            case Literal(value):
                return repr(value is True)
            case Call("and", args):
                return all_of([self.true(a) for a in args])
            case Call("or", args):
                return any_of([self.true(a) for a in args])
            case Call("not", (arg,)):
                return self.false(arg)
            case Case(branches, otherwise):
                return self._case([(c, self.true(v)) for c, v in branches], self.true(otherwise))
        return self._test_null(self.code(t), "")

    def false(self, t: Term) -> str:
        """Source that is true in Python exactly where the term is FALSE."""
        if t in self.known or self.nesting >= DEEPEST:
            return self._test_null(self.code(t), "not ")
        self.nesting += 1
        source = self._false(t)
        self.nesting -= 1
        return source

    def _false(self, t: Term) -> str:
        match t:
            case Literal(value):
                return repr(value is False)
            case Call("and", args):
                return any_of([self.false(a) for a in args])
            case Call("or", args):
                return all_of([self.false(a) for a in args])
            case Call("not", (arg,)):
                return self.true(arg)
        return self._test_null(self.code(t), "not ")

    def _test_null(self, code: Code, negation: str) -> str:
        if code.whole is not None:
            return f"({code.whole} is False)" if negation else code.whole
        if not code.guards:
            return f"({negation}{code.source})" if negation else code.source
        return f"({code.known} and {negation}{code.source})"

    # --- nodes ---------------------------------------------------------------------------------------------

    def code(self, t: Term) -> Code:
        found = self.known.get(t)
        if found is not None:
            return found
        if self.nesting >= DEEPEST and children(t) and not variables_of(t):
            return self._call_interpreter(t)
        self.nesting += 1
        code = self._code(t)
        self.nesting -= 1
        return code

    def _call_interpreter(self, t: Term) -> Code:
        """What is nested too deeply for an expression, as the call of a function that evaluates the term."""
        columns = sorted({c.name for c in columns_of(t)})
        function = self.namespace.bind(compile_term(t, columns), "f")
        source = f"{function}(({''.join(self.columns[c] + ', ' for c in columns)}))"
        return self.opaque(source) if nullable(t) else Code(source)

    def _code(self, t: Term) -> Code:
        match t:
            case Literal(value):
                source = self.namespace.constant(value)
                return Code(source, ("None",), True, "None") if value is None else Code(source)
            case Column(name, _, may):
                return self.atom(self.columns[name], may)
            case Variable(name, _, may):
                return self.atom(self.variables[name], may)
            case Field(of, name, _, may):
                return self._field(of, name, may)
            case Record(members):
                return Code(f"({''.join(self.value(m) + ', ' for _, m in members).rstrip()})")
            case Cast():
                return self._cast(t)
            case Case(branches, otherwise, _):
                values = [(c, self.value(v)) for c, v in branches]
                source = self._case(values, self.value(otherwise))
                return self.opaque(source) if nullable(t) else Code(source)
            case Lambda():
                return Code(self._lambda(t))
            case Call():
                return self._call(t)
            case Apply(args=args):
                function = self.namespace.bind(caller(t), "f")
                source = f"{function}({', '.join(self.value(a) for a in args)})"
                return self.opaque(source) if nullable(t) else Code(source)
            case Nested():
                raise InternalError("a nested query is left in a program")
            case _:
                assert_never(t)

    def atom(self, source: str, may_be_null: bool) -> Code:
        return Code(source, (source,), True, source) if may_be_null else Code(source)

    def opaque(self, source: str, guards: tuple[str, ...] = ()) -> Code:
        """A value that may be None although no guard is: it becomes a guard of its own."""
        name = self.fresh()
        whole = None if guards else source
        return Code(name, (*guards, f"({name} := {source})"), True, whole)

    def _field(self, of: Term, name: str, may: bool) -> Code:
        position = of.type.position(name) if isinstance(of.type, Struct) else None
        if position is None:
            raise InternalError(f"{of.type} has no member {name}")
        inner = self.code(of)
        if inner.source == "None":
            return inner
        source = f"{inner.source}[{position}]"
        return self.opaque(source, inner.guards) if may else Code(source, inner.guards, inner.nullable)

    def _case(self, branches: list[tuple[Term, str]], otherwise: str) -> str:
        chosen = "".join(f"{value} if {self.true(condition)} else " for condition, value in branches)
        return f"({chosen}{otherwise})"

    def _cast(self, t: Cast) -> Code:
        inner = self.code(t.of)
        if not t.strict:
            convert = self.namespace.bind(cast_value(t.of.type, t.type, False), "f")
            return self.opaque(f"{convert}({inner.value})")
        convert_known = conversion(t.of.type, t.type)
        assert convert_known is not None, (t.of.type, t.type)
        bound = convert_known
        code = self.apply(
            [inner],
            lambda args: cast_python(t.of.type, t.type, args[0]),
            lambda: self.namespace.bind(bound, "f"),
        )
        return self.opaque(code.source, code.guards) if cast_nulls(t.of.type, t.type) else code

    def _lambda(self, t: Lambda) -> str:
        outer = dict(self.variables)
        names = [self.fresh() for _ in t.parameters]
        others = ["*_"] if len(names) == 1 else []  # an element's position, which this lambda does not read
        self.variables.update({p.name: n for p, n in zip(t.parameters, names, strict=True)})
        body = self.value(t.body)
        self.variables = outer
        return f"(lambda {', '.join([*names, *others])}: {body})"

    # --- calls ---------------------------------------------------------------------------------------------

    def _call(self, t: Call) -> Code:
        match t.function:
            case "and" | "or":
                return self._connective(t)
            case "not":
                inner = self.code(t.args[0])
                return Code(f"(not {inner.source})", inner.guards, inner.nullable)
            case "coalesce":
                return self._coalesce(t)
            case "is_null":
                code = self.code(t.args[0])
                if not code.nullable or "None" in code.guards:
                    return Code(repr(code.nullable))
                return Code(f"({' or '.join(f'{g} is None' for g in self._nulls(code))})")
            case "is_not_null":
                code = self.code(t.args[0])
                if not code.nullable or "None" in code.guards:
                    return Code(repr(not code.nullable))
                return Code(f"({' and '.join(f'{g} is not None' for g in self._nulls(code))})")
            case "ring_mul":
                factors = [self.code(a) for a in t.args]
                return Code(product([c.source for c in factors]), *merge(factors))
            case "ring_check":
                return check(self, t)
            case "average":
                return average(self, t)
            case "bounded":
                return check_bound(self, t)
            case "in_list" if all(isinstance(a, Literal) for a in t.args[1:]):
                return self._in_constants(t)
        function = FUNCTIONS[t.function]
        types = tuple(a.type for a in t.args)
        codes = [self.code(a) for a in t.args]
        call = lambda: self.namespace.bind(implementation(t.function, types, t.type), "f")  # noqa: E731
        template = function.python

        def python(args: tuple[str, ...]) -> str | None:
            return None if template is None else template(types, t.type, args)

        if not function.strict:
            return self._apply_to_nulls(t, codes, python, call)
        code = self.apply(codes, python, call)
        return self.opaque(code.source, code.guards) if function.nullable else code

    def _nulls(self, code: Code) -> tuple[str, ...]:
        return code.guards if code.whole is None else (code.whole,)

    def apply(
        self, codes: list[Code], python: Callable[[tuple[str, ...]], str | None], call: Callable[[], str]
    ) -> Code:
        """A strict function: an argument that its source mentions twice is computed once, as a guard."""
        guards, may = merge(codes)
        holes = tuple(c.source if is_atom(c.source) else f"_hole{i}_" for i, c in enumerate(codes))
        source = python(holes)
        if source is None:
            return Code(f"{call()}({', '.join(c.source for c in codes)})", guards, may)
        for hole, code in zip(holes, codes, strict=True):
            if hole == code.source:
                continue
            if source.count(hole) > 1:
                name = self.fresh()
                guards = (*guards, f"({name} := {code.source})")
                source = source.replace(hole, name)
            else:
                source = source.replace(hole, code.source)
        return Code(source, guards, may)

    def _apply_to_nulls(
        self,
        t: Call,
        codes: list[Code],
        python: Callable[[tuple[str, ...]], str | None],
        call: Callable[[], str],
    ) -> Code:
        """A function that sees NULLs."""
        source = python(tuple(c.value for c in codes)) if all(is_atom(c.value) for c in codes) else None
        if source is None:
            source = f"{call()}({', '.join(c.value for c in codes)})"
        return self.opaque(source) if nullable(t) else Code(source)

    def _connective(self, t: Call) -> Code:
        """AND and OR as values, in three-valued logic and lazy."""
        conjunction = t.function == "and"
        codes = [self.code(a) for a in t.args]
        if not any(c.nullable for c in codes):
            return Code(f"({f' {t.function} '.join(c.value for c in codes)})")
        decided, nulls = [], []
        for code in codes:
            value = code.value
            if code.nullable and not is_atom(value):
                name = self.fresh()
                value, test = name, f"({name} := {value})"
            else:
                test = value
            decided.append(f"{test} is False" if conjunction else test)
            if code.nullable:
                nulls.append(f"{value} is None")
        first, last = ("False", "True") if conjunction else ("True", "False")
        return self.opaque(
            f"({first} if {' or '.join(decided)} else None if {' or '.join(nulls)} else {last})"
        )

    def _coalesce(self, t: Call) -> Code:
        codes: list[Code] = []
        for a in t.args:
            codes.append(self.code(a))
            if not codes[-1].nullable:
                break
        *first, last = codes
        if not first:
            return last
        parts = "".join(f"{c.source} if {c.known} else " for c in first)
        source = f"({parts}{last.value})"
        return self.opaque(source) if last.nullable else Code(source)

    def _in_constants(self, t: Call) -> Code:
        """IN with constants: one look into a set."""
        values = [a.value for a in t.args[1:] if isinstance(a, Literal)]
        given = [v for v in values if v is not None]
        options: object = frozenset(given)
        if len(given) == 1 and not contains_float(t.args[0].type):
            code = self.apply(
                [self.code(t.args[0])], lambda a: f"({a[0]} == {self.namespace.constant(given[0])})", str
            )
        else:
            name = self.namespace.bind(options, "c")
            code = self.apply([self.code(t.args[0])], lambda a: f"({a[0]} in {name})", str)
        if len(given) == len(values):
            return code
        return self.opaque(f"({code.source} or None)", code.guards)
