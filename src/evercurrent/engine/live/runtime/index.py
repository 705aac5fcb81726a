"""Buckets of secondary indexes.

A bucket of one entry is the pair (rest, payload) itself, a dictionary {rest: payload} from two on: most buckets of most
indexes hold one entry, and a dictionary of one costs three times as much memory as a pair.

>>> index = {}
>>> put(index, "k", 1, True); put(index, "k", 2, True); index
{'k': {1: True, 2: True}}
>>> drop(index, "k", 1); index
{'k': (2, True)}
"""

from __future__ import annotations

from typing import Any

from evercurrent.engine.live.runtime.journal import Entry

Index = dict[Any, Any]


def put(index: Index, key: Any, rest: Any, payload: Any) -> None:
    """Add an entry, or replace its payload."""
    bucket = index.get(key)
    if bucket is None:
        index[key] = (rest, payload)
    elif type(bucket) is dict:
        bucket[rest] = payload
    elif (bucket[0],) == (rest,):
        index[key] = (rest, payload)
    else:
        index[key] = {bucket[0]: bucket[1], rest: payload}


def drop(index: Index, key: Any, rest: Any) -> None:
    """Take an entry out."""
    bucket = index.get(key)
    if type(bucket) is dict:
        bucket.pop(rest, None)
        if len(bucket) == 1:
            index[key] = next(iter(bucket.items()))
    elif bucket is not None and (bucket[0],) == (rest,):
        del index[key]


def bump(index: Index, key: Any, rest: Any, count: int) -> None:
    """Add to the weight of an entry whose payload is its weight."""
    bucket = index.get(key)
    if bucket is None:
        index[key] = (rest, count)
    elif type(bucket) is dict:
        total = bucket.get(rest, 0) + count
        if total:
            bucket[rest] = total
        else:
            drop(index, key, rest)
    elif (bucket[0],) == (rest,):
        total = bucket[1] + count
        if total:
            index[key] = (rest, total)
        else:
            del index[key]
    else:
        index[key] = {bucket[0]: bucket[1], rest: count}


def shift(index: Index, key: Any, old: Any, new: Any) -> None:
    """One entry less of one kind, one more of another, in one bucket whose payloads are weights.

    >>> index = {"k": {1: 1, 2: 5}}
    >>> shift(index, "k", 1, 3); index
    {'k': {2: 5, 3: 1}}
    >>> shift(index, "k", 3, 2); index
    {'k': (2, 6)}
    """
    bucket = index.get(key)
    if type(bucket) is not dict:
        bump(index, key, old, -1)
        bump(index, key, new, 1)
        return
    left = bucket.pop(old, 0) - 1
    if left:
        bucket[old] = left
    total = bucket.get(new, 0) + 1
    if total:
        bucket[new] = total
    else:
        del bucket[new]
    if len(bucket) == 1:
        index[key] = next(iter(bucket.items()))
    elif not bucket:
        del index[key]


def remember(index: Index, key: Any, rest: Any, journal: list[Entry]) -> None:
    """Write down what a change of one entry of a bucket overwrites."""
    bucket = index.get(key)
    journal.append((index, key, bucket))
    if type(bucket) is dict:
        # Undone first: the bucket itself is as it was when it comes back under its key.
        journal.append((bucket, rest, bucket.get(rest)))
