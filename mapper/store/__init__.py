"""The store of runs: manifest, samples and metrics in one SQLite file or any database."""

from mapper.store.blobs import Chunk, pack, unpack
from mapper.store.errors import ClaimLostError, StoreError
from mapper.store.query import StoredRun
from mapper.store.records import Claim, ClaimState, Ending, RunIdentity, plain
from mapper.store.schema import SCHEMA_VERSION, RunStatus
from mapper.store.store import Store

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
