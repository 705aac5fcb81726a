"""A server of PostgreSQL for tests: in a folder of its own, on loopback, under a user that is not root; killed and started at will."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

FOLDERS = ("/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/17/bin")


def programs() -> Path | None:
    """Returns the folder of the server's programs, None if there is no server."""
    for folder in FOLDERS:
        if (Path(folder) / "initdb").exists():
            return Path(folder)
    found = shutil.which("initdb")
    return Path(found).parent if found else None


class Cluster:
    """One server. `address` is that of its database."""

    def __init__(self, folder: Path) -> None:
        found = programs()
        assert found is not None
        self.bin, self.folder = found, folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self.address = f"postgresql://{self.user}@127.0.0.1:{self.port}/postgres"
        self.process: subprocess.Popen[bytes] | None = None
        self.data = folder / "data"
        folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(folder, self.user, self.user)
        self._run(
            [
                str(self.bin / "initdb"),
                "-D",
                str(self.data),
                "-U",
                self.user,
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-sync",
            ]
        )
        (self.data / "postgresql.conf").open("a").write(
            f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nwal_level = logical\n"
            "max_replication_slots = 40\nmax_wal_senders = 40\nshared_buffers = 32MB\n"
        )
        self.start()

    def _options(self) -> dict[str, Any]:
        return {"user": self.user, "group": self.user, "extra_groups": []} if os.geteuid() == 0 else {}

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=False, **self._options())
        assert done.returncode == 0, done.stderr.decode()

    def _spawn(self) -> None:
        (self.data / "postmaster.pid").unlink(missing_ok=True)  # of one that was killed
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(self.bin / "postgres"), "-D", str(self.data)],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
                **self._options(),
            )

    def start(self) -> None:
        """Starts the server, and waits until it answers."""
        self._spawn()
        assert self.process is not None
        end = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.address, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if self.process.poll() is not None:  # something of the one that was killed is still there
                    time.sleep(0.2)
                    self._spawn()
                assert time.monotonic() < end, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.05)

    def kill(self) -> None:
        """Kills the server and all its processes, each of which is in a session of its own."""
        assert self.process is not None
        everyone = [self.process.pid, *_children(self.process.pid)]
        for one in everyone:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        self.process.wait()
        while any(Path(f"/proc/{one}").exists() for one in everyone):  # they hold its shared memory
            time.sleep(0.01)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()

    def execute(self, text: str, *parameters: Any) -> list[Any]:
        """Runs a statement in a connection of its own, and commits it."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            found = connection.execute(text.encode(), parameters or None)
            return found.fetchall() if found.description else []


def _children(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found
