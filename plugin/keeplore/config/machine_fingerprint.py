"""Which computer this is, told by the system, so that a copied home directory is noticed."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id")  # machine-id(5)
MAX_FILE = 200  # bytes
MARK_CHARS = 16


def mark() -> str:
    """A fingerprint that is the same at each call on one installation of a system, and on no other;
    "" where the system does not tell.

    machine-id(5) asks that the id itself is not written down: it is hashed with our name.
    """
    if sys.platform == "win32":
        found = _id_from_windows()
    elif sys.platform == "darwin":
        found = _id_from_macos()
    else:
        found = _id_from_files()
    return (
        hashlib.sha256(f"keeplore/{found}".encode()).hexdigest()[:MARK_CHARS]
        if found
        else ""
    )


def _id_from_files() -> str:
    for name in _FILES:
        try:
            with Path(name).open("rb") as file:
                if found := file.read(MAX_FILE).decode("ascii", "ignore").strip():
                    return found
        except OSError:
            continue
    return ""


def _id_from_macos() -> str:
    import ctypes  # here, because every command reads this module and other systems need none

    try:
        # a timespec of one second
        uuid, wait = ((ctypes.c_ubyte * 16)(), (ctypes.c_long * 2)(1, 0))
        return (
            bytes(uuid).hex() if ctypes.CDLL(None).gethostuuid(uuid, wait) == 0 else ""
        )
    except (OSError, AttributeError):
        return ""


def _id_from_windows() -> str:
    if sys.platform == "win32":
        import winreg  # it exists nowhere else

        try:
            with winreg.OpenKey(
                winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography"
            ) as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0])
        except OSError:
            return ""
    return ""
