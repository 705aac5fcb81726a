"""What messages say, one by one: envelopes of Debezium, rows in JSON, tombstones, values of Kafka Connect."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
from typing import Any

import pytest

pytest.importorskip("pyspark")

from evercurrent.data.types import (
    Array,
    Binary,
    Boolean,
    Date,
    Decimal,
    Float,
    Integer,
    Map,
    Member,
    String,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.data.values import BadValue, take_in
from evercurrent.engine.spark.intake.messages.connect_values import DECIMAL, converter
from evercurrent.engine.spark.intake.messages.envelopes import UNAVAILABLE, Reader
from evercurrent.engine.spark.intake.messages.options import read_options
from evercurrent.errors import QueryError
from evercurrent.warehouse.sinks.envelopes import Envelopes, json_of

FIELDS = [Member("id", Integer(32), False), Member("total", Decimal(8, 2)), Member("note", String())]
DEBEZIUM = read_options("debezium", {})


def read(value: Any, key: Any = None, messages: Any = DEBEZIUM) -> Any:
    def encode(v: Any) -> bytes | None:
        return None if v is None else v if isinstance(v, bytes) else json.dumps(v).encode()

    return Reader(FIELDS, [0], messages).read(encode(key), encode(value))


def schema_of(*fields: dict[str, Any]) -> dict[str, Any]:
    row = [{"field": "id", "type": "int32"}, *fields]
    return {
        "type": "struct",
        "fields": [{"field": name, "type": "struct", "fields": row} for name in ("before", "after")],
    }


PRECISE = {"field": "total", "type": "bytes", "name": DECIMAL, "parameters": {"scale": "2"}}


@pytest.mark.parametrize("op", ["c", "r", "u"])
def test_a_row_of_every_operation_that_has_one(op: str) -> None:
    after = {"id": 1, "total": 9.5, "note": "ä", "more": True}
    assert read({"op": op, "before": None, "after": after}) == ("upsert", (1, 950, "ä"), ())


def test_with_a_schema_decimals_are_bytes() -> None:
    digits = base64.b64encode((-1050).to_bytes(2, "big", signed=True)).decode()
    value = {"schema": schema_of(PRECISE), "payload": {"op": "c", "after": {"id": 1, "total": digits}}}
    assert read(value) == ("upsert", (1, -1050, None), ())


def test_deletions_by_the_row_before_or_by_the_key() -> None:
    gone = ("delete", (7, None, None), ())
    assert read({"op": "d", "before": {"id": 7, "total": "AQ==", "note": "x"}, "after": None}) == gone
    assert read({"op": "d", "before": None, "after": None}, {"id": 7}) == gone
    assert read({"op": "d", "before": {"total": None}}, {"schema": {}, "payload": {"id": 7}}) == gone


def test_tombstones() -> None:
    assert read(None, {"id": 7}) == ("delete", (7, None, None), ())
    assert read(None, {"schema": {"type": "struct"}, "payload": {"id": 7}}) == ("delete", (7, None, None), ())
    assert read(None, b"7") == ("delete", (7, None, None), ())
    assert read(None) is None
    assert read(None, {"id": 7}, read_options("json", {})) is None, "rows that are inserted are not deleted"
    assert read(None, {"id": 7}, read_options("json", {"mode": "upsert"})) == ("delete", (7, None, None), ())


def test_truncations() -> None:
    assert read({"op": "t", "before": None, "after": None}) == ("truncate", (None, None, None), ())


def test_a_value_that_was_not_sent() -> None:
    after = {"id": 1, "total": 1, "note": UNAVAILABLE}
    assert read({"op": "u", "after": after}) == ("upsert", (1, 100, None), (2,))


@pytest.mark.parametrize(
    ("value", "key", "said"),
    [
        (b"\xff", None, "not JSON"),
        (b"{", None, "not JSON"),
        (b'{"op": "c", "after": {"id": NaN}}', None, "not JSON"),
        ([1], None, "not a JSON object"),
        ({"id": 1}, None, "no envelope of Debezium"),
        ({"op": "x"}, None, "op 'x'"),
        ({"op": "c", "after": None}, None, "no row in 'after'"),
        ({"op": "d", "before": None}, None, "which row"),
        ({"op": "d", "before": None}, {"other": 1}, "its key does not have id"),
        ({"op": "c", "after": {"id": "one"}}, None, "id: "),
        ({"op": "c", "after": {"id": 1 << 40}}, None, "id: "),
        ({"op": "c", "after": {"id": 1, "total": "12.50"}}, None, "'decimals': 'string'"),
    ],
)
def test_what_cannot_be_read_says_why(value: Any, key: Any, said: str) -> None:
    with pytest.raises(BadValue, match=said):
        read(value, key)


@pytest.mark.parametrize(
    ("t", "schema", "value", "wanted"),
    [
        (Date(), {"name": "io.debezium.time.Date"}, 20000, datetime.date(2024, 10, 4)),
        (Date(), {}, "2024-10-04", datetime.date(2024, 10, 4)),
        (Timestamp(), {"name": "io.debezium.time.Timestamp"}, 1_700_000_000_123, datetime.datetime(2023, 11, 14, 22, 13, 20, 123000)),
        (Timestamp(), {"name": "io.debezium.time.MicroTimestamp"}, -1, datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)),
        (Timestamp(False), {"name": "io.debezium.time.NanoTimestamp"}, 1_999, datetime.datetime(1970, 1, 1, 0, 0, 0, 1)),
        (Timestamp(), {"name": "io.debezium.time.ZonedTimestamp"}, "2024-01-01T01:00:00+01:00", datetime.datetime(2024, 1, 1)),
        (Time(), {"name": "io.debezium.time.MicroTime"}, 3_600_000_001, datetime.time(1, 0, 0, 1)),
        (Boolean(), {"type": "int16"}, 1, True),
        (Float(64), {}, "Infinity", float("inf")),
        (Binary(), {"type": "bytes"}, "AQI=", b"\x01\x02"),
        (String(), {}, {"a": [1]}, '{"a": [1]}'),
        (Decimal(8, 2), {"name": "io.debezium.data.VariableScaleDecimal"}, {"scale": 1, "value": "Zw=="}, 1030),
        (Decimal(8, 2), {"type": "string"}, "1.5", 150),
        (Array(Integer(32)), {}, [1, None], (1, None)),
    ],
)  # fmt: skip
def test_values_of_connectors(t: Type, schema: Any, value: Any, wanted: Any) -> None:
    assert converter(t, DEBEZIUM, schema)(value) == wanted


def test_what_no_schema_says_is_not_guessed() -> None:
    with pytest.raises(BadValue, match="time_unit"):
        converter(Timestamp(), DEBEZIUM)(1_700_000_000_000)
    chosen = read_options("debezium", {"time_unit": "milliseconds", "decimals": "precise"})
    assert converter(Timestamp(), chosen)(1_000) == datetime.datetime(1970, 1, 1, 0, 0, 1)
    assert converter(Decimal(8, 2), chosen)("A+g=") == 1000


def test_options_are_checked() -> None:
    for format, options, said in [
        ("xml", {}, "no format"),
        ("json", {"schema": "x"}, "no option 'schema'"),
        ("json", {"mode": "replace"}, "cannot be 'replace'"),
        ("avro", {}, "need the option 'schema'"),
    ]:
        with pytest.raises(QueryError, match=said):
            read_options(format, options)


# --- out, and in again -------------------------------------------------------------------------------------

VALUES: list[tuple[Type, Any]] = [
    (Boolean(), True),
    (Integer(64), -(1 << 60)),
    (Float(64), float("-inf")),
    (Float(64), 0.1),
    (Decimal(38, 10), decimal.Decimal("-1234567890123456789012345678.0123456789")),
    (String(), "ä\n"),
    (Binary(), b"\x00\xff"),
    (Date(), datetime.date(1, 1, 1)),
    (Time(), datetime.time(23, 59, 59, 999999)),
    (Timestamp(), datetime.datetime(1969, 1, 1, 1, 2, 3, 4, tzinfo=datetime.UTC)),
    (Timestamp(False), datetime.datetime(2024, 2, 29, 1, 2, 3, 4)),
    (Array(Decimal(6, 2)), [decimal.Decimal("1.50"), None]),
    (Map(Integer(32), Date()), {3: datetime.date(2024, 1, 1)}),
    (Struct((Member("a", Binary()), Member("b", Float(64)))), {"a": b"x", "b": float("inf")}),
]


@pytest.mark.parametrize(("t", "value"), VALUES, ids=[str(t) for t, _ in VALUES])
def test_what_is_sent_can_be_read(t: Type, value: Any) -> None:
    inside = take_in(t, value)
    text = json.loads(json.dumps(json_of(t, inside)), parse_float=decimal.Decimal)
    assert converter(t, read_options("json", {}))(text) == inside


def sent(key: list[int], delta: list[Any]) -> list[Any]:
    envelopes = Envelopes("v", FIELDS, key, lambda: 0)
    found = []
    for message in envelopes.changes(delta, 3):
        value = None if message.value is None else json.loads(message.value)
        found.append((json.loads(message.key), value and (value["op"], value["before"], value["after"])))
    return found


def test_changes_are_paired_by_the_key() -> None:
    a, b, c = (1, 100, "a"), (1, 200, "a"), (2, 100, "c")
    old, new = {"id": 1, "total": "1.00", "note": "a"}, {"id": 1, "total": "2.00", "note": "a"}
    assert sent([0], [(b, 1), (a, -1)]) == [({"id": 1}, ("u", old, new))]
    gone = {"id": 2, "total": "1.00", "note": "c"}
    assert sent([0], [(c, -1)]) == [({"id": 2}, ("d", gone, None)), ({"id": 2}, None)]
    assert sent([], [(c, 2)]) == [(gone, ("c", None, gone))] * 2
    assert sent([], [(c, -2)]) == [(gone, ("d", gone, None))] * 2
