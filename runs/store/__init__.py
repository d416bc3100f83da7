"""The store of runs: manifest, samples and metrics in one SQLite file or any database."""

from runs.store.blobs import Chunk, pack, unpack
from runs.store.errors import ClaimLostError, StoreError
from runs.store.query import StoredRun
from runs.store.records import Claim, ClaimState, Ending, RunIdentity, plain
from runs.store.schema import SCHEMA_VERSION, RunStatus
from runs.store.store import Store

__all__ = [
    "SCHEMA_VERSION",
    "Chunk",
    "Claim",
    "ClaimLostError",
    "ClaimState",
    "Ending",
    "RunIdentity",
    "RunStatus",
    "Store",
    "StoreError",
    "StoredRun",
    "pack",
    "plain",
    "unpack",
]
