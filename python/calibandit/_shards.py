"""The shards of a sweep on disk: which are finished, and how they travel from worker to caller.

A shard is kept as a folder that appears whole or not at all. It lies under a fingerprint of the experiment and of the
program's version, and it carries a checksum: shards of other experiments, of other versions, and damaged ones are never
taken for finished. This module knows nothing of joblib; it runs nothing.
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

#: What merging needs of a shard's folder. Everything else can be made again from it.
FILES = ("manifest.json", "results.csv")
_LAYOUT = 1
_MARK = "shard.json"


def fingerprint(spec: Mapping[str, Any], version: str) -> str:
    """A name for an experiment run by a version of the program: equal only if the results must be equal.

    >>> one = fingerprint({"name": "a", "seed": 1}, "1.0")
    >>> one == fingerprint({"seed": 1, "name": "a"}, "1.0")
    True
    >>> one == fingerprint({"name": "a", "seed": 2}, "1.0"), one == fingerprint({"name": "a", "seed": 1}, "1.1")
    (False, False)
    """
    text = json.dumps({"layout": _LAYOUT, "spec": spec, "version": version}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def pack(folder: Path) -> dict[str, bytes]:
    """What a worker sends back of the folder that it wrote: the caller may have no disk in common with it."""
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
        """Where a shard is kept, finished or not."""
        return self.home / f"shard-{shard}"

    def paths(self) -> list[Path]:
        """Where all shards are kept, in order."""
        return [self.path(shard) for shard in range(1, self.shards + 1)]

    def finished(self) -> list[int]:
        """The shards that need not be run again."""
        return [shard for shard in range(1, self.shards + 1) if self._is_finished(shard)]

    def save(self, shard: int, packed: Mapping[str, bytes]) -> None:
        """Keeps what a worker sent back. The folder is made beside its place and then renamed, whole."""
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
            # Somebody else was faster, which is as good; or a damaged shard is in the way.
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
    """The numbers of shards into which this experiment was split before, the latest first."""
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
