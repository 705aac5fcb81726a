"""An S3 server on loopback, by the package `moto`, in a process of its own: the library for Delta waits for answers without
letting other threads of its process run."""

from __future__ import annotations

import sys
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from tests.loopback import free_port, serving


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of a server that runs as long as the block."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with serving(command, port):
        yield f"http://127.0.0.1:{port}"


def new_bucket(endpoint: str) -> str:
    name = f"b-{uuid.uuid4().hex}"
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{name}", method="PUT")).close()
    return name


def options_for(endpoint: str) -> dict[str, str]:
    """What a program passes as `storage_options`."""
    return {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test-secret",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
    }
