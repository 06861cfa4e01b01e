"""Files that a process keeps locked while it holds leases, so that another one sees at once that it
is gone: the system opens the lock of a process however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable
from pathlib import Path

from keeplore.errors import KeeploreError
from keeplore_hooks import durable


class LeaseLocks:
    """Locked files, one for each lease, named by its token, in ``folder``. Used within transactions
    of the queue only: nobody looks between the making of a file and its lock.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}  # token → open file

    def take(self, token: str) -> None:
        """Hold a lease until it is given back, or this process or object goes.

        Raises KeeploreError where the file cannot be made or locked.
        """
        flags = os.O_RDWR | os.O_CREAT | durable.NO_FOLLOW
        try:
            durable.make_private(self._folder)
            self._held[token] = os.open(self._folder / token, flags, 0o600)
            fcntl.flock(self._held[token], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e:
            self.give_back(token)
            raise KeeploreError(
                f"{self._folder} cannot be written: {e.strerror}",
                "Check the free space and the rights there",
            ) from e

    def give_back(self, token: str) -> None:
        """Do nothing where this object does not hold it."""
        if (handle := self._held.pop(token, None)) is not None:
            with contextlib.suppress(OSError):
                (self._folder / token).unlink()
            os.close(handle)

    def is_held(self, token: str) -> bool:
        """Whether a process that lives holds it, this one or another."""
        if token in self._held:
            return True
        try:
            handle = os.open(self._folder / token, os.O_RDWR | durable.NO_FOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def clear(self, leased: Iterable[str]) -> None:
        """Remove the files of processes that were killed, all but those of ``leased``."""
        kept = {*leased, *self._held}
        with contextlib.suppress(OSError):
            for file in self._folder.iterdir():
                if file.name not in kept:
                    file.unlink()

    def __del__(self) -> None:
        for handle in self._held.values():
            os.close(handle)
