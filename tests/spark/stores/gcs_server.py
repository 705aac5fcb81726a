"""Google Cloud Storage on loopback, as far as warehouses use it: the XML protocol that obstore and the library for Delta speak.

    python -m tests.spark.stores.gcs_server PORT

The emulators that package registries have (fake-gcs-server, gcp-storage-emulator) speak the JSON protocol. A put with
`x-goog-if-generation-match` is refused with 412 unless the object has that generation; 0 means that there is none. It runs in a
process of its own: the library for Delta waits for answers without letting other threads of its process run.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from tests.loopback import free_port, serving


@dataclass
class Stored:
    data: bytes
    generation: int
    changed: float

    @property
    def headers(self) -> dict[str, str]:
        tag = hashlib.md5(self.data, usedforsecurity=False).hexdigest()
        return {
            "ETag": f'"{tag}"',
            "x-goog-generation": str(self.generation),
            "Last-Modified": formatdate(self.changed, usegmt=True),
        }


@dataclass
class Bucket:
    """Objects by name, and uploads in parts that are not finished."""

    objects: dict[str, Stored] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    last: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, key: str, data: bytes, wanted: str | None) -> Stored | None:
        """None if the object does not have the generation that was demanded."""
        with self.lock:
            there = self.objects.get(key)
            if wanted is not None and int(wanted) != (there.generation if there else 0):
                return None
            self.last += 1
            self.objects[key] = Stored(data, self.last, time.time())
            return self.objects[key]

    def listing(self, asked: dict[str, str]) -> str:
        prefix, delimiter = asked.get("prefix", ""), asked.get("delimiter", "")
        after = asked.get("continuation-token") or asked.get("start-after") or ""
        most, entries, folders = int(asked.get("max-keys", 1000)), [], set()
        token = last = ""
        with self.lock:
            known = sorted((k, o) for k, o in self.objects.items() if k.startswith(prefix) and k > after)
        for key, found in known:
            rest = key[len(prefix) :]
            if delimiter and delimiter in rest:
                folders.add(prefix + rest.split(delimiter, 1)[0] + delimiter)
                continue
            if len(entries) == most:
                token = last
                break
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(found.changed)) + ".000Z"
            entries.append(
                f"<Contents><Key>{escape(key)}</Key><Size>{len(found.data)}</Size><LastModified>{stamp}</LastModified>"
                f"<ETag>{escape(found.headers['ETag'])}</ETag></Contents>"
            )
            last = key
        parts = "".join(
            f"<CommonPrefixes><Prefix>{escape(f)}</Prefix></CommonPrefixes>" for f in sorted(folders)
        )
        more = f"<NextContinuationToken>{escape(token)}</NextContinuationToken>" if token else ""
        return f"<ListBucketResult>{''.join(entries)}{parts}{more}</ListBucketResult>"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    buckets: dict[str, Bucket] = {}  # noqa: RUF012

    def log_message(self, *_: Any) -> None: ...

    def answer(self, code: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_request(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        found = urlsplit(self.path)
        asked = {k: v[0] for k, v in parse_qs(found.query, keep_blank_values=True).items()}
        name, _, key = map(unquote, found.path.lstrip("/").partition("/"))
        if self.command == "PUT" and not key:
            self.buckets.setdefault(name, Bucket())
            self.answer(200)
            return
        bucket = self.buckets.get(name)
        if bucket is None:
            self.answer(404, {}, b"<Error><Code>NoSuchBucket</Code></Error>")
        elif not key:
            self.answer(200, {}, bucket.listing(asked).encode())
        else:
            getattr(self, f"serve_{self.command.lower()}")(bucket, key, asked, body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request

    def serve_get(self, bucket: Bucket, key: str, asked: dict[str, str], body: bytes) -> None:
        found = bucket.objects.get(key)
        if found is None:
            self.answer(404, {}, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        ranged = re.match(r"bytes=(\d*)-(\d*)$", self.headers.get("Range") or "")
        if not ranged:
            self.answer(200, found.headers, found.data)
            return
        size = len(found.data)
        begin = int(ranged[1]) if ranged[1] else size - int(ranged[2])
        end = min(int(ranged[2]) + 1, size) if ranged[1] and ranged[2] else size
        told = {**found.headers, "Content-Range": f"bytes {begin}-{end - 1}/{size}"}
        self.answer(206, told, found.data[begin:end])

    def serve_head(self, bucket: Bucket, key: str, asked: dict[str, str], body: bytes) -> None:
        found = bucket.objects.get(key)
        if found is None:
            self.answer(404)
            return
        self.send_response(200)
        for name, value in {**found.headers, "Content-Length": str(len(found.data))}.items():
            self.send_header(name, value)
        self.end_headers()

    def serve_put(self, bucket: Bucket, key: str, asked: dict[str, str], body: bytes) -> None:
        if "uploadId" in asked:
            bucket.uploads[asked["uploadId"]][int(asked["partNumber"])] = body
            self.answer(200, {"ETag": f'"{asked["partNumber"]}"'})
            return
        made = bucket.put(key, body, self.headers.get("x-goog-if-generation-match"))
        if made is None:
            self.answer(412, {}, b"<Error><Code>PreconditionFailed</Code></Error>")
        else:
            self.answer(200, made.headers)

    def serve_post(self, bucket: Bucket, key: str, asked: dict[str, str], body: bytes) -> None:
        if "uploads" in asked:
            name = f"u{time.monotonic_ns()}"
            bucket.uploads[name] = {}
            text = (
                f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
            )
            self.answer(200, {}, text.encode())
            return
        parts = bucket.uploads.pop(asked["uploadId"])
        wanted = self.headers.get("x-goog-if-generation-match")
        made = bucket.put(key, b"".join(parts[n] for n in sorted(parts)), wanted)
        if made is None:
            self.answer(412)
            return
        text = f"<CompleteMultipartUploadResult><ETag>{escape(made.headers['ETag'])}</ETag></CompleteMultipartUploadResult>"
        self.answer(200, made.headers, text.encode())

    def serve_delete(self, bucket: Bucket, key: str, asked: dict[str, str], body: bytes) -> None:
        with bucket.lock:
            gone = bucket.objects.pop(key, None)
        self.answer(204 if gone is not None else 404)


@contextmanager
def gcs_server() -> Iterator[str]:
    """The address of a server that runs as long as the block."""
    port = free_port()
    with serving([sys.executable, "-m", "tests.spark.stores.gcs_server", str(port)], port):
        yield f"http://127.0.0.1:{port}"


def options_for(endpoint: str) -> dict[str, str]:
    """What a program passes as `storage_options`."""
    account = {"gcs_base_url": endpoint, "disable_oauth": True} | dict.fromkeys(
        ("client_email", "private_key", "private_key_id"), "test-secret"
    )
    return {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(account), "GOOGLE_ALLOW_HTTP": "true"}


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
