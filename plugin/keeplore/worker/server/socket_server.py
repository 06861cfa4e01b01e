"""The worker's socket: private to this user, one thread a connection, nothing that a caller sends
can stop it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

from keeplore.text.dates import ZONE, zone_at
from keeplore.worker.server.protocol import (
    ADDRESS_FILE,
    MAX_HEADER,
    MAX_REQUEST,
    MAX_SOCKET_PATH,
    NAME,
    ZONE_MARK,
    receive,
)
from keeplore_hooks import durable

LOG = logging.getLogger(__name__)
MAX_CONNECTIONS = 64  # at once; more wait in the backlog
NO_DESCRIPTOR_S = 0.2  # after the system had no descriptor for a connection
LOOK_S = 20.0  # how often it looks whether its address is still there
REQUEST_S = 5.0  # a caller that takes longer to send is dropped

# operation and arguments after the version, payload → reply
Handler = Callable[[str, list[str], bytes], bytes]
# told of a request to which nobody waited for the reply
Unheard = Callable[[str, list[str], bytes], None]


class SocketServer:
    """Listens from construction on, also after somebody deleted its socket; ``close`` removes the
    address.
    """

    def __init__(
        self,
        state: Path,
        handle: Handler,
        unheard: Unheard = lambda *_: None,
        *,
        is_lost: Callable[[], bool] = lambda: False,
    ) -> None:
        self._handle = handle
        self._is_lost = is_lost  # whether the state directory is another's by now
        self._unheard = unheard
        self._state = state
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._aside = ""
        path = state / "worker.sock"
        if len(os.fsencode(path)) > MAX_SOCKET_PATH:
            self._aside = _folder_aside()
            path = Path(self._aside) / "worker.sock"
        self._path = path
        self._address = threading.Lock()  # whoever makes or removes it holds this
        self._socket = self._listening()
        threading.Thread(
            target=self._accept, name="keeplore-accept", daemon=True
        ).start()

    def close(self) -> None:
        with self._address:
            for path in (self._state / ADDRESS_FILE, self._path):
                with contextlib.suppress(OSError):
                    path.unlink()
            self._socket.close()
        if self._aside:
            import shutil  # here, as above

            shutil.rmtree(self._aside, ignore_errors=True)

    def _accept(self) -> None:
        while True:
            self._slots.acquire()
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                self._slots.release()
                self._listen_anew()
                continue
            except OSError:
                self._slots.release()
                if self._socket.fileno() < 0:  # closed
                    return
                time.sleep(NO_DESCRIPTOR_S)
                continue
            threading.Thread(
                target=self._serve, args=(connection,), daemon=True
            ).start()

    def _listening(self) -> socket.socket:
        made = _listening_at(self._path)
        made.settimeout(LOOK_S)
        durable.write(self._state / ADDRESS_FILE, str(self._path).encode())
        return made

    def _listen_anew(self) -> None:
        """Make the address again where it was deleted: nobody could start another worker."""
        address = self._state / ADDRESS_FILE
        with self._address, contextlib.suppress(OSError):
            is_there = self._path.exists() and address.exists()
            if is_there or self._socket.fileno() < 0 or self._is_lost():
                return
            deleted, self._socket = self._socket, self._listening()
            deleted.close()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                if _is_own_user(connection):
                    self._answer(connection)
        except (OSError, ValueError) as e:
            LOG.info("a request was dropped: %r", e)
        except Exception:
            LOG.exception("a request failed")
        finally:
            self._slots.release()

    def _answer(self, connection: socket.socket) -> None:
        request = receive(connection, MAX_REQUEST + MAX_HEADER, REQUEST_S)
        header, _, payload = request.partition(b"\n")
        words = header[:MAX_HEADER].decode("ascii", "replace").split(" ")
        if len(words) < 3 or words[0] != NAME:
            return
        arguments = [words[1], *_without_zone(words[3:])]
        reply = self._handle(words[2], arguments, payload)
        connection.settimeout(REQUEST_S)
        try:
            connection.sendall(f"{len(reply)}\n".encode() + reply)
        except OSError:
            self._unheard(words[2], arguments, payload)
            raise


def _without_zone(arguments: list[str]) -> list[str]:
    """The other arguments of a request; what is said in this thread is said by the clocks of its
    zone.
    """
    for offset in arguments:
        if offset.startswith(ZONE_MARK):
            with contextlib.suppress(ValueError):
                ZONE.set(zone_at(int(offset.removeprefix(ZONE_MARK))))
    return [one for one in arguments if not one.startswith(ZONE_MARK)]


def _folder_aside() -> str:
    """A new folder, 0700, with a name that nobody can foresee."""
    # here, as the next one: it is rare, and the first answer waits for every import
    import tempfile

    return tempfile.mkdtemp(prefix="keeplore-")


def _listening_at(path: Path) -> socket.socket:
    with contextlib.suppress(FileNotFoundError):
        # left by a worker that was killed; the lock says that we are the only one
        path.unlink()
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.bind(str(path))
    path.chmod(0o600)
    made.listen(MAX_CONNECTIONS)
    return made


def _is_own_user(connection: socket.socket) -> bool:
    # macOS: the directory's mode keeps others out
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    raw = connection.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")
    )
    _, uid, _ = struct.unpack("3i", raw)
    return bool(uid == os.getuid())
