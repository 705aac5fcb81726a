"""The documents of the log: JSON with a digest of itself.

    {"format":2,"digest":"6c0f...","version":7,...}

The head has a fixed length and the digest is that of all bytes after it, so a document is checked before it is parsed. Documents
of format 1 were written before there were digests; no single wrong bit turns a 2 into a 1.

>>> text, own = pack({"version": 7})
>>> unpack(text, "it") == ({"format": 2, "digest": own, "version": 7}, own)
True
>>> unpack(text.replace(b"7", b"8"), "it")
Traceback (most recent call last):
    ...
evercurrent.engine.spark.storage.disk.DamageError: it is damaged: its checksum is not the one that was written
hint: evercurrent check --warehouse DIR lists what is damaged and what can be rebuilt
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evercurrent.engine.spark.storage.checksums import damage_error, text_digest
from evercurrent.errors import StorageError

FORMAT = 2
OLD = 1
DIGEST = 32
HEAD = b'{"format":%d,"digest":"' % FORMAT


def pack(content: Mapping[str, Any]) -> tuple[bytes, str]:
    """A document as bytes, and its digest. `content` is not empty."""
    rest = b'",' + json.dumps(content, separators=(",", ":")).encode()[1:]
    own = text_digest(rest)
    return HEAD + own.encode() + rest, own


def unpack(text: bytes, path: str, way_out: str | None = None) -> tuple[dict[str, Any], str | None]:
    """The content of a document and its digest, which is None in one of the old format."""
    if text.startswith(HEAD):
        own, rest = text[len(HEAD) : len(HEAD) + DIGEST], text[len(HEAD) + DIGEST :]
        if text_digest(rest).encode() != own:
            raise damage_error(path, way_out)
        return json.loads(text), own.decode()
    try:
        value = json.loads(text)
        known = value.get("format")
    except (ValueError, AttributeError) as problem:
        raise damage_error(path, way_out) from problem
    if known == OLD:
        return value, None
    if known == FORMAT or not isinstance(known, int):
        raise damage_error(path, way_out)
    raise StorageError(f"{path} is of format {known}, and this version of evercurrent reads {FORMAT}")
