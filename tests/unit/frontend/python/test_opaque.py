"""Opaque functions: correct, called once for each changed row and side, named where they fail, explained."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any, NamedTuple

import pytest

import evercurrent as ec


class Word(NamedTuple):
    id: int
    text: str
    lang: int


class Lang(NamedTuple):
    id: int
    name: str


calls: Counter[Any] = Counter()


def score(text: str) -> int:
    """A loop: nobody looks into it."""
    calls[text] += 1
    total = 0
    for letter in text:
        total += ord(letter) - 96
    return total


def long_row(word: Word) -> bool:
    calls[word] += 1
    for _ in range(1):
        pass
    return len(word.text) > 2


def fussy(text: str) -> int:
    for letter in text:
        if letter == "!":
            raise ValueError("no shouting")
    return len(text)


@ec.opaque
def declared(n: int) -> int:
    calls[n] += 1
    return n + 1


@pytest.fixture
def db() -> ec.Database:
    calls.clear()
    return ec.connect()


def tables(db: ec.Database) -> tuple[ec.TableOf[Word], ec.TableOf[Lang]]:
    return db.table_of(Word, key="id"), db.table_of(Lang)


def test_once_for_each_changed_row_whatever_depends_on_it(db: ec.Database) -> None:
    words, langs = tables(db)
    scored = words.select(lambda w: ec.row(id=w.id, lang=w.lang, score=score(w.text)))
    views = [
        db.view(
            "joined",
            scored.join(langs, lambda w, g: w.lang == g.id).select(lambda w, g: (w.id, g.name, w.score)),
        ),
        db.view(
            "summed", scored.group_by(lambda w: w.lang).select(lambda k, g: (k, g.sum(lambda w: w.score)))
        ),
        db.view("best", scored.order_by(lambda w: ec.desc(w.score)).limit(1)),
        db.view("filtered", scored.where(lambda w: w.score > 3 and w.lang == 1)),
        db.view("lonely", scored.anti_join(langs, lambda w, g: w.lang == g.id)),
        db.view("by_score", words.join(langs, lambda w, g: score(w.text) == g.id)),
        db.view(
            "twice", scored.join(scored, lambda a, b: a.score == b.score).select(lambda a, b: (a.id, b.id))
        ),
        db.view("distinct", scored.select(lambda w: w.score).distinct()),
    ]
    words.insert([Word(1, "ab", 1), Word(2, "c", 1), Word(3, "abc", 2)])
    assert calls == {"ab": 1, "c": 1, "abc": 1}
    calls.clear()
    langs.insert([Lang(1, "en"), Lang(2, "no"), Lang(3, "it"), Lang(3, "at")])
    langs.delete(Lang(3, "at"))
    assert not calls, "nothing of a word has changed"
    words.update(1, text="abd")
    assert calls == {"ab": 1, "abd": 1}, "once for the side that goes, once for the side that comes"
    calls.clear()
    with db.transaction():
        words.delete(2)
        words.insert(Word(4, "c", 2))
    assert calls["c"] == 2, "two rows have changed"
    assert all(len(v.rows()) >= 0 for v in views)
    assert db.verify()
    assert sorted(db.view("joined").rows()) == [(1, "en", 7), (3, "no", 6), (4, "no", 3)]


def test_whole_rows_are_given_as_their_class(db: ec.Database) -> None:
    words, _ = tables(db)
    view = db.view("long", words.where(long_row))
    words.insert([Word(1, "abc", 1), Word(2, "a", 1)])
    assert view.objects() == [Word(1, "abc", 1)]
    assert calls == {Word(1, "abc", 1): 1, Word(2, "a", 1): 1}


def test_plain_conditions_are_asked_first(db: ec.Database) -> None:
    words, langs = tables(db)
    one = db.view("one", words.where(lambda w: w.lang == 1 and score(w.text) > 1))
    two = db.view(
        "two",
        words.where(lambda w: w.lang == 2)
        .join(langs, lambda w, g: w.lang == g.id)
        .where(lambda w, g: score(w.text) > 0),
    )
    words.insert([Word(1, "abc", 1), Word(2, "b", 2), Word(3, "z", 3)])
    assert calls == {"abc": 1, "b": 1}
    assert len(one) == 1 and len(two) == 0
    assert db.verify()


def test_a_choice_calls_only_what_it_chooses(db: ec.Database) -> None:
    words, _ = tables(db)
    view = db.view("chosen", words.select(lambda w: (w.id, score(w.text) if w.lang == 1 else 0)))
    words.insert([Word(1, "abc", 1), Word(2, "b", 2)])
    assert sorted(view.rows()) == [(1, 6), (2, 0)]
    assert calls == {"abc": 1}


def test_an_exception_undoes_the_transaction_and_names_the_function(db: ec.Database) -> None:
    words, _ = tables(db)
    view = db.view("lengths", words.select(lambda w: (w.id, fussy(w.text))))
    words.insert(Word(1, "ab", 1))
    with pytest.raises(ec.EvaluationError, match="fussy raised ValueError: no shouting") as caught:
        words.insert([Word(2, "cd", 1), Word(3, "hey!", 1)])
    assert "'hey!'" in str(caught.value)
    assert view.rows() == [(1, 2)] and len(words) == 1


def test_a_wrong_promise_is_an_error(db: ec.Database) -> None:
    def liar(text: str) -> int:
        for _ in text:
            pass
        return text  # type: ignore[return-value]

    words, _ = tables(db)
    db.view("lies", words.select(lambda w: liar(w.text)))
    with pytest.raises(ec.EvaluationError, match="liar returned what it does not promise"):
        words.insert(Word(1, "ab", 1))
    assert len(words) == 0


def test_declared_opaque(db: ec.Database) -> None:
    words, _ = tables(db)
    view = db.view("next", words.select(lambda w: declared(w.id)))
    words.insert(Word(1, "ab", 1))
    assert view.rows() == [(2,)] and calls == {1: 1}
    assert "it is declared opaque" in view.explain() or "declared" in view.explain()


def test_explain_says_why_and_what_to_do(db: ec.Database) -> None:
    words, _ = tables(db)
    text = db.view("scores", words.select(lambda w: score(w.text))).explain()
    assert "score(" in text and "called once for each inserted or deleted row" in text
    assert "because it has a statement that is no expression" in text
    assert "write it as expressions" in text


def test_the_result_of_an_opaque_function_needs_a_type(db: ec.Database) -> None:
    words, _ = tables(db)

    def untyped(word):  # type: ignore[no-untyped-def]
        for _ in word.text:
            pass
        return 1

    with pytest.raises(ec.QueryError, match=r"untyped cannot be looked into.*does not say what it returns"):
        words.select(untyped)
    view = db.view("given", words.select(untyped, returns=int))
    words.insert(Word(1, "a", 1))
    assert view.rows() == [(1,)]


def test_functions_without_source_are_traced_or_opaque(db: ec.Database) -> None:
    words, _ = tables(db)
    words.insert([Word(1, "abc", 1), Word(2, "b", 2)])
    traced = eval("lambda w: (w.lang == 1) & (w.id < 5)")
    assert words.where(traced).rows() == [(1, "abc", 1)]
    with pytest.raises(ec.QueryError, match="asked for its truth") as caught:
        words.where(eval("lambda w: w.lang == 1 and w.id < 5"))
    assert "use & | ~ instead of and or not" in str(caught.value)
    for wrong in (
        "w.id in (1, 2)",
        "1 < w.id < 3",
        "not w.id",
        "w.text if w.id else ''",
        "len(w.text)",
        "f'{w.id}'",
    ):
        with pytest.raises(ec.QueryError):
            words.where(eval(f"lambda w: {wrong}"))
    isin = ec.isin
    assert words.where(eval("lambda w: isin(w.id, (2, 3))", {"isin": isin})).rows() == [(2, "b", 2)]
    partial = functools.partial(long_row)
    assert words.where(partial).rows() == [(1, "abc", 1)]


def test_a_traced_function_hands_symbols_to_nobody(db: ec.Database) -> None:
    words, _ = tables(db)
    words.insert([Word(1, "abc", 1), Word(2, "b", 2)])

    def kind(value: object) -> bool:
        return isinstance(value, str)

    careful = eval("lambda w: kind(w.text)", {"kind": kind})
    assert len(words.where(careful).rows()) == 2, "as in Python: a symbol is no str, a text is"
    assert len(words.where(eval("lambda w: isinstance(w.id, int)")).rows()) == 2
    assert "it calls kind" in words.where(careful).explain()


def test_methods_of_what_does_not_hash(db: ec.Database) -> None:
    class Known(list[str]):
        def has(self, text: str) -> bool:
            return text in self

    words, _ = tables(db)
    words.insert([Word(1, "abc", 1), Word(2, "b", 2)])
    known = Known(["b"])
    assert words.select(lambda w: w.text).where(known.has).rows() == [("b",)]


def test_a_constant_call_is_refused(db: ec.Database) -> None:
    words, _ = tables(db)

    def threshold() -> int:
        with open("/dev/null"):
            return 3

    with pytest.raises(ec.QueryError, match=r"threshold.. is called with nothing of the row") as caught:
        words.where(lambda w: w.id > threshold())
    assert "call it before" in str(caught.value)


def test_wrong_names_show_the_place(db: ec.Database) -> None:
    words, _ = tables(db)
    with pytest.raises(ec.QueryError, match="a row has no field txet") as caught:
        words.where(lambda w: w.txet == "a")  # type: ignore[attr-defined]
    assert "did you mean text?" in str(caught.value) and "^^^^^^" in str(caught.value)
    with pytest.raises(ec.QueryError, match="STRING == INT: in Python these are never equal"):
        words.where(lambda w: w.text == 3)
    with pytest.raises(ec.QueryError, match="takes 2 arguments"):
        words.where(lambda a, b: a == b)  # type: ignore[arg-type, misc]


def test_in_a_condition_and_in_the_result_it_is_called_once_for_each_row(db: ec.Database) -> None:
    words = db.table_of(Word)
    view = db.view(
        "scored",
        words.where(lambda w: score(w.text) > 1)
        .where(lambda w: w.lang > 0)
        .select(lambda w: (w.id, score(w.text), score(w.text) + w.lang)),
    )
    words.insert(Word(1, "b", 1))
    words.insert([Word(2, "cc", 2), Word(3, "a", 1)])
    assert calls == {"b": 1, "cc": 1, "a": 1}
    assert sorted(view.rows()) == [(1, 2, 3), (2, 6, 8)]
    words.delete(Word(1, "b", 1))
    assert calls["b"] == 2
    assert view.rows() == [(2, 6, 8)]


def test_of_other_values_it_is_called_again(db: ec.Database) -> None:
    words = db.table_of(Word)
    view = db.view(
        "other", words.where(lambda w: declared(w.lang) > 1).select(lambda w: (w.id, declared(w.lang + 1)))
    )
    words.insert(Word(1, "b", 5))
    assert calls == {5: 1, 6: 1}
    assert view.rows() == [(1, 7)]
