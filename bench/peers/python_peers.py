"""Pathway, and pg_ivm in a server of PostgreSQL of its own: programs of an environment of their own, `.venv-peers`."""

from __future__ import annotations

from bench.history import Missing
from bench.peers.contest import Peer


def pathway() -> Peer:
    raise Missing("not yet")


def pg_ivm() -> Peer:
    raise Missing("not yet")
