"""A function's syntax, read over symbols.

The parameters are symbols, the names around the function are the values that they have now. What does not depend on a row
is computed; what does becomes a term; a statement or a call that terms cannot say raises `Resists`, and the function stays
what it is, opaque.

    lambda s: s.age >= limit and s.city in CITIES        s.age >= 18 and s.city in ('Rome', 'Oslo')
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from evercurrent.errors import QueryError
from evercurrent.frontend.python import items, logic, methods, operations
from evercurrent.frontend.python.annotations import is_row_class
from evercurrent.frontend.python.calling import is_method_of_symbol, is_pure, positional, row_of
from evercurrent.frontend.python.locate import Located, locate
from evercurrent.frontend.python.opaque import application, is_declared, name_of, returns
from evercurrent.frontend.python.surroundings import bind_parameters, names_around
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import Resists, is_symbolic
from evercurrent.term import build

BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
DEPTH = 24
"""How many calls deep functions are looked into."""


class Closure:
    """A lambda inside a captured function, with the names that it sees."""

    def __init__(self, node: ast.Lambda, reader: Reader) -> None:
        self.node = node
        self.reader = reader

    def __call__(self, *values: Any) -> Any:
        names = [a.arg for a in self.node.args.args]
        if len(names) != len(values):
            raise QueryError(f"a function of {len(names)} arguments is given {len(values)}")
        return self.reader.within(dict(zip(names, values, strict=True))).expression(self.node.body)


def read(located: Located, function: FunctionType, args: Sequence[Any], depth: int = 0) -> Any:
    """The value of a function over symbols, from its syntax."""
    names = bind_parameters(located, function, args)
    reader = Reader({**names_around(function), **names}, located, depth)
    if isinstance(located.node, ast.Lambda):
        return reader.expression(located.node.body)
    return reader.body(located.node.body)


class Reader:
    """Reads expressions and statements; `names` are what they see."""

    def __init__(self, names: Mapping[str, Any], located: Located, depth: int) -> None:
        self.names = dict(names)
        self.located = located
        self.depth = depth

    def within(self, more: Mapping[str, Any]) -> Reader:
        return Reader({**self.names, **more}, self.located, self.depth)

    # --- statements ----------------------------------------------------------------------------------------

    def body(self, statements: Sequence[ast.stmt]) -> Any:
        """What a function returns: names are assigned, an `if` chooses between two ways to go on."""
        for i, statement in enumerate(statements):
            match statement:
                case ast.Return(value=None):
                    return None
                case ast.Return(value=value) if value is not None:
                    return self.expression(value)
                case ast.Assign(targets=[target], value=value):
                    self.assign(target, self.expression(value))
                case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                    self.names[name] = self.expression(value)
                case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                    self.names[name] = self._binary(
                        BINARY[type(op)], self.names[name], self.expression(value)
                    )
                case ast.If(test, yes, no):
                    rest = list(statements[i + 1 :])
                    test_value = self.expression(test)
                    if not is_symbolic(test_value):
                        return self.body([*(yes if test_value else no), *rest])
                    return logic.conditional(
                        test_value, self.within({}).body([*yes, *rest]), self.within({}).body([*no, *rest])
                    )
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case _:
                    raise Resists(f"it has a statement that is no expression ({_word(statement)})", statement)
        return None

    def assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                values = list(value)
                if len(values) != len(parts):
                    raise QueryError(
                        f"{len(values)} values for {len(parts)} names", place=self.located.place(target)
                    )
                for part, one in zip(parts, values, strict=True):
                    self.assign(part, one)
            case _:
                raise Resists("it changes something", target)

    # --- expressions ---------------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Any:
        try:
            return self._expression(node)
        except QueryError as problem:
            if problem.place is None:
                problem.place = self.located.place(node)
            raise
        except Resists as reason:
            if reason.node is None:
                reason.node = node
            raise

    def _expression(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(value, attr):
                return self._attribute(self.expression(value), attr)
            case ast.BinOp(left, op, right):
                return self._binary(BINARY.get(type(op), "@"), self.expression(left), self.expression(right))
            case ast.UnaryOp(op, operand):
                return self._unary(op, self.expression(operand))
            case ast.BoolOp(op, values):
                return self._logic(isinstance(op, ast.And), values)
            case ast.Compare(left, ops, comparators):
                return self._compare(left, ops, comparators)
            case ast.IfExp(test, body, orelse):
                decision = self.expression(test)
                if not is_symbolic(decision):
                    return self.expression(body if decision else orelse)
                return logic.conditional(decision, self.expression(body), self.expression(orelse))
            case ast.Tuple(elts=parts):
                return tuple(self._elements(parts))
            case ast.List(elts=parts):
                return self._elements(parts)
            case ast.Set(elts=parts):
                found = self._elements(parts)
                return found if is_symbolic(found) else set(found)
            case ast.Dict(keys, values):
                return self._dictionary(keys, values)
            case ast.Subscript(value, key):
                return self._item(self.expression(value), self._key(key))
            case ast.Call():
                return self._call(node)
            case ast.Lambda():
                return Closure(node, self)
            case ast.GeneratorExp(elt, generators) | ast.ListComp(elt, generators):
                return self._comprehension(elt, generators, False)
            case ast.SetComp(elt, generators):
                return self._comprehension(elt, generators, True)
            case ast.JoinedStr(values):
                return self._text(values)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                self.names[name] = found = self.expression(value)
                return found
            case _:
                raise Resists(f"it has {_word(node)}", node)

    def _name(self, name: str) -> Any:
        if name in self.names:
            return self.names[name]
        try:
            return self.names["\0globals"][name]
        except KeyError:
            raise QueryError(f"the name {name} is not known here") from None

    def _attribute(self, value: Any, name: str) -> Any:
        try:
            return getattr(value, name)
        except AttributeError as problem:
            if is_symbolic(value):
                raise Resists(str(problem)) from None
            raise QueryError(str(problem)) from None

    def _binary(self, operator: str, left: Any, right: Any) -> Any:
        if operator == "%" and isinstance(left, str):
            raise Resists("formatting with %")
        if not isinstance(left, Symbol) and not isinstance(right, Symbol):
            if is_symbolic(left) or is_symbolic(right):
                if operator == "+" and type(left) is type(right) and isinstance(left, tuple | list):
                    return left + right
                return operations.binary(operator, left, right)
            return OPERATORS[operator](left, right)
        return operations.binary(operator, left, right)

    def _unary(self, op: ast.unaryop, value: Any) -> Any:
        if isinstance(op, ast.Not):
            return logic.negate(value) if is_symbolic(value) else not value
        if not is_symbolic(value):
            return -value if isinstance(op, ast.USub) else ~value if isinstance(op, ast.Invert) else +value
        return operations.unary({ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(op)], value)

    def _logic(self, conjunction: bool, nodes: list[ast.expr]) -> Any:
        values: list[Any] = []
        for node in nodes:
            value = self.expression(node)
            if not is_symbolic(value):
                if bool(value) is not conjunction:  # it decides
                    values.append(value)
                    break
                if node is not nodes[-1]:
                    continue
            values.append(value)
        if len(values) == 1:
            return values[0]
        return logic.both(values) if conjunction else logic.either(values)

    def _compare(self, left: ast.expr, ops: list[ast.cmpop], nodes: list[ast.expr]) -> Any:
        results: list[Any] = []
        a = self.expression(left)
        for op, node in zip(ops, nodes, strict=True):
            b = self.expression(node)
            results.append(self._comparison(op, a, b))
            a = b
        if len(results) == 1:
            return results[0]
        if not any(map(is_symbolic, results)):
            return all(results)
        return logic.both(results)

    def _comparison(self, op: ast.cmpop, a: Any, b: Any) -> Any:
        symbolic = is_symbolic(a) or is_symbolic(b)
        match op:
            case ast.Is() | ast.IsNot():
                if not symbolic:
                    return (a is b) is isinstance(op, ast.Is)
                if a is not None and b is not None:
                    raise Resists("`is` between values of rows")
                found = operations.is_none(a if b is None else b)
                return Symbol(build.negation(found) if isinstance(op, ast.IsNot) else found)
            case ast.In() | ast.NotIn():
                if not symbolic and not hasattr(b, "_contains_"):
                    return (a in b) is isinstance(op, ast.In)
                found = items.contains(b, a)
                return Symbol(build.negation(found) if isinstance(op, ast.NotIn) else found)
            case _:
                sign = COMPARE[type(op)]
                return operations.binary(sign, a, b) if symbolic else OPERATORS[sign](a, b)

    def _elements(self, nodes: list[ast.expr]) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found.extend(self.expression(node.value))
            else:
                found.append(self.expression(node))
        return found

    def _dictionary(self, keys: list[ast.expr | None], values: list[ast.expr]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            if key is None:
                found.update(self.expression(value))
            else:
                name = self.expression(key)
                if is_symbolic(name):
                    raise Resists("a dictionary with keys that depend on the row", key)
                found[name] = self.expression(value)
        return found

    def _key(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Slice):
            return self.expression(node)
        parts = [None if p is None else self.expression(p) for p in (node.lower, node.upper, node.step)]
        return slice(*parts)

    def _item(self, value: Any, key: Any) -> Any:
        if is_symbolic(key) or isinstance(value, Symbol):
            return items.item(value, key)
        return value[key]

    def _text(self, parts: list[ast.expr]) -> Any:
        """An f-string: texts joined."""
        result: Any = ""
        for part in parts:
            if isinstance(part, ast.FormattedValue):
                if part.format_spec is not None or part.conversion not in (-1, 115):
                    raise Resists("a format in an f-string", part)
                value = methods.text(self.expression(part.value))
            else:
                value = self.expression(part)
            if isinstance(result, str) and not result:
                result = value
            else:
                result = self._binary("+", result, value)
        return result

    def _comprehension(self, element: ast.expr, generators: list[ast.comprehension], distinct: bool) -> Any:
        from evercurrent.frontend.python.comprehensions import comprehension

        return comprehension(self, element, generators, distinct)

    # --- calls ---------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Any:
        function = self.expression(node.func)
        args = tuple(self._elements(node.args))
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                keywords.update(self.expression(keyword.value))
            else:
                keywords[keyword.arg] = self.expression(keyword.value)
        return self.call(function, args, keywords)

    def call(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call: of what knows symbols, of a row class, of a built-in, of a function that is looked into, or opaque."""
        if isinstance(function, Closure) or getattr(function, "_knows_symbols_", False):
            return function(*args, **keywords)
        if is_row_class(function):
            return row_of(function, args, keywords)
        if is_method_of_symbol(function) or hasattr(getattr(function, "__self__", None), "_symbolic_"):
            return function(*args, **keywords)
        symbolic = is_symbolic(args) or is_symbolic(keywords)
        if not symbolic and not any(hasattr(a, "_symbolic_") for a in args):
            if is_pure(function):
                return function(*args, **keywords)
        known = methods.call_builtin(function, args, keywords)
        if known is not NotImplemented:
            return known
        if isinstance(function, type) and function in (tuple, list):
            return function(*args)
        return self._unknown(function, args, keywords, symbolic)

    def _unknown(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any], symbolic: bool) -> Any:
        reason = f"it calls {name_of(function)}"
        if keywords and isinstance(function, FunctionType):
            args, keywords = positional(function, args, keywords), {}
        if not is_declared(function) and not keywords and self.depth < DEPTH:
            located = locate(function)
            if located is not None:
                try:
                    return read(located, function, args, self.depth + 1)
                except Resists as resisting:
                    reason = resisting.reason
        if not symbolic:
            raise QueryError(
                f"{name_of(function)}() is called with nothing of the row, and whether it is constant is not known",
                hint="call it before, and use its value in the function",
            )
        if keywords or (returns(function) is None and not is_declared(function)):
            raise Resists(f"it calls {name_of(function)}, which cannot be looked into: {reason}")
        return application(function, args, reason)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    sign: eval(f"lambda a, b: a {sign} b") for sign in (*BINARY.values(), *COMPARE.values(), "@")
}


def _word(node: ast.AST) -> str:
    return type(node).__name__.lower()
