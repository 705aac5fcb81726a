"""Text and binary as each other: character sets, base 64, digests, URLs.

>>> in_base64(b"hello"), unbase64("aGVsbG8="), url_encode("a b&c")
('aGVsbG8=', b'hello', 'a+b%26c')
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import urllib.parse
import zlib

from evercurrent.data.types import BIGINT, BINARY, INT, STRING
from evercurrent.term.functions.failures import bad_argument, check_size, within_size
from evercurrent.term.functions.signatures import simple

CHARSETS = {
    "us-ascii": "ascii",
    "iso-8859-1": "latin-1",
    "utf-8": "utf-8",
    "utf-16": "utf-16",
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
    "utf-32": "utf-32-be",
}


def _codec(charset: str) -> str:
    found = CHARSETS.get(charset.lower())
    if found is None:
        bad_argument("ENCODE", f"there is no character set {charset}")
    return found


def encode(text: str, charset: str) -> bytes:
    codec = _codec(charset)
    try:
        encoded = text.encode(codec)
    except UnicodeEncodeError:
        bad_argument("ENCODE", f"the text cannot be written in {charset}")
    # Java's UTF-16 is big-endian behind its mark.
    return b"\xfe\xff" + text.encode("utf-16-be") if codec == "utf-16" else encoded


def decode(data: bytes, charset: str) -> str:
    try:
        return data.decode(_codec(charset))
    except UnicodeDecodeError:
        bad_argument("DECODE", f"the bytes are no text in {charset}")


def in_base64(data: bytes) -> str:
    """In lines of 76 characters, as in mail."""
    text = base64.b64encode(data).decode()
    check_size("BASE64", len(text))
    return "\r\n".join(text[i : i + 76] for i in range(0, len(text), 76))


def unbase64(text: str) -> bytes:
    """Whatever is not of the alphabet is skipped, as mail readers do."""
    kept = re.sub(r"[^A-Za-z0-9+/]", "", text.split("=", maxsplit=1)[0])
    if len(kept) % 4 == 1:
        bad_argument("UNBASE64", "the text is cut off")
    try:
        return base64.b64decode(kept + "=" * (-len(kept) % 4))
    except binascii.Error:
        bad_argument("UNBASE64", "the text is not in base 64")


SHA2 = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}


def sha2(data: bytes, bits: int) -> str | None:
    return hashlib.new(SHA2[bits], data).hexdigest() if bits in SHA2 else None


def url_encode(text: str) -> str:
    made = urllib.parse.quote_plus(text, safe="*-._").replace("~", "%7E")
    return within_size("URL_ENCODE", made)  # type: ignore[no-any-return]


def url_decode(text: str) -> str:
    if re.search(r"%(?![0-9A-Fa-f]{2})", text):
        bad_argument("URL_DECODE", "a % is not followed by two hexadecimal digits")
    return urllib.parse.unquote_plus(text)


FUNCTIONS = (
    simple("encode", (STRING, STRING), BINARY, encode, fails=True),
    simple("decode", (BINARY, STRING), STRING, decode, fails=True),
    simple("base64", (BINARY,), STRING, in_base64),
    simple("unbase64", (STRING,), BINARY, unbase64, fails=True),
    simple("md5", (BINARY,), STRING, lambda b: hashlib.md5(b).hexdigest()),
    simple("sha1", (BINARY,), STRING, lambda b: hashlib.sha1(b).hexdigest()),
    simple("sha2", (BINARY, INT), STRING, sha2, nullable=True),
    simple("crc32", (BINARY,), BIGINT, zlib.crc32),
    simple("url_encode", (STRING,), STRING, url_encode),
    simple("url_decode", (STRING,), STRING, url_decode, fails=True),
)
