"""Azure's blobs on loopback: Microsoft's own emulator, Azurite, which npm installs (`make test-stores`).

EVERCURRENT_AZURITE names its program, azurite-blob; without it, one on the path is taken.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import os
import shutil
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.loopback import free_port, serving

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account of every Azurite, as its manual says."""
VERSION = "2021-08-06"


def find_azurite() -> str | None:
    return os.environ.get("EVERCURRENT_AZURITE") or shutil.which("azurite-blob")


@contextmanager
def azure_server(program: str, folder: Path) -> Iterator[str]:
    """The address of a server that runs as long as the block."""
    port = free_port()
    command = [program, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder)]
    command += ["--skipApiVersionCheck", "--disableTelemetry", "--silent"]
    with serving(command, port):
        yield f"http://127.0.0.1:{port}/{ACCOUNT}"


def new_container(endpoint: str) -> str:
    """A container of its own; the request is signed by the account's key."""
    name = f"c-{uuid.uuid4().hex}"
    date = datetime.datetime.now(datetime.UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = f"x-ms-date:{date}\nx-ms-version:{VERSION}"
    text = "PUT" + "\n" * 12 + f"{headers}\n/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    signed = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest())
    request = urllib.request.Request(f"{endpoint}/{name}?restype=container", method="PUT")
    request.add_header("x-ms-date", date)
    request.add_header("x-ms-version", VERSION)
    request.add_header("Authorization", f"SharedKey {ACCOUNT}:{signed.decode()}")
    urllib.request.urlopen(request).close()
    return name


def options_for(endpoint: str) -> dict[str, str]:
    """What a program passes as `storage_options`."""
    return {
        "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
        "AZURE_STORAGE_ACCOUNT_KEY": KEY,
        "AZURE_STORAGE_ENDPOINT": endpoint,
        "AZURE_ALLOW_HTTP": "true",
    }
