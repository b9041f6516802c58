"""The shards of a distributed run on disk: which are finished, and how a worker sends them to the caller.

A shard is stored as a folder that is created atomically. Its path contains a fingerprint of the experiment and of the
version of the program, and it carries a checksum: a shard of another experiment or version, or a damaged one, never
counts as finished. This module does not use joblib and does not run anything.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Store", "fingerprint", "pack"]

#: The files of a shard: merging checks them all.
FILES = ("manifest.json", "results.csv", "results.parquet", "summary.csv")
_LAYOUT = 2
_MARK = "shard.json"


def fingerprint(spec: Mapping[str, Any], version: str) -> str:
    """A digest of an experiment and the version of the program: equal only if the results must be equal.

    >>> one = fingerprint({"name": "a", "seed": 1}, "1.0")
    >>> one == fingerprint({"seed": 1, "name": "a"}, "1.0")
    True
    >>> one == fingerprint({"name": "a", "seed": 2}, "1.0"), one == fingerprint({"name": "a", "seed": 1}, "1.1")
    (False, False)
    """
    text = json.dumps({"layout": _LAYOUT, "spec": spec, "version": version}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def pack(folder: Path) -> dict[str, bytes]:
    """Pack the folder that a worker wrote: worker and caller may not share a disk."""
    return {name: zlib.compress((folder / name).read_bytes(), 1) for name in FILES}


class Store:
    """The shards of one experiment under a folder.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder), "0123456789abcdef", 4)
    ...     store.save(2, {name: zlib.compress(b"...") for name in FILES})
    ...     store.finished()
    [2]
    """

    def __init__(self, folder: Path, fingerprint: str, shards: int) -> None:
        self.fingerprint = fingerprint
        self.shards = shards
        self.home = _home(folder, fingerprint) / f"of-{shards}"

    def path(self, shard: int) -> Path:
        """The path of a shard, finished or not."""
        return self.home / f"shard-{shard}"

    def paths(self) -> list[Path]:
        """The paths of all shards, in order."""
        return [self.path(shard) for shard in range(1, self.shards + 1)]

    def finished(self) -> list[int]:
        """The shards that do not have to be run again."""
        return [shard for shard in range(1, self.shards + 1) if self._is_finished(shard)]

    def save(self, shard: int, packed: Mapping[str, bytes]) -> None:
        """Store a shard that a worker sent back. The folder is written under a temporary name and then renamed."""
        self.home.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=self.home))
        try:
            for name in FILES:
                _write(fresh / name, zlib.decompress(packed[name]))
            mark = json.dumps(self._mark(shard, fresh), indent=1, sort_keys=True)
            _write(fresh / _MARK, mark.encode())
            self._put(shard, fresh)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _put(self, shard: int, fresh: Path) -> None:
        place = self.path(shard)
        try:
            fresh.rename(place)
        except OSError:
            # Another process stored this shard first, or a damaged shard is in the way.
            if not self._is_finished(shard):
                shutil.rmtree(place)
                fresh.rename(place)

    def _mark(self, shard: int, folder: Path) -> dict[str, Any]:
        sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}
        return {"fingerprint": self.fingerprint, "shard": shard, "of": self.shards, "sha256": sums}

    def _is_finished(self, shard: int) -> bool:
        folder = self.path(shard)
        try:
            said = json.loads((folder / _MARK).read_text(encoding="utf-8"))
            return bool(said == self._mark(shard, folder))
        except (OSError, ValueError):
            return False


def splits(folder: Path, fingerprint: str) -> Iterable[int]:
    """The numbers of shards into which this experiment was split before, latest first."""
    homes = [home for home in _home(folder, fingerprint).glob("of-*") if home.name[3:].isdigit()]
    homes.sort(key=lambda home: (home.stat().st_mtime_ns, home.name), reverse=True)
    return [int(home.name[3:]) for home in homes]


def _home(folder: Path, fingerprint: str) -> Path:
    return folder / ".shards" / fingerprint[:16]


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
