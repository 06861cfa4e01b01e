"""What is told on the next page after an action, with the way back where there is one."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass

KEPT = 100


@dataclass(frozen=True, slots=True)
class Notice:
    """``undo`` is the address of the form that takes it back, "" where nothing does."""

    text: str
    undo: str = ""
    undo_label: str = "Undo"
    is_warning: bool = False


class Notices:
    """The notices of one server: pages name them by keys, so that no address can put words into a
    page.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Notice] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, notice: Notice) -> str:
        key = secrets.token_urlsafe(8)
        with self._lock:
            self._kept[key] = notice
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return key

    def get(self, key: str) -> Notice | None:
        with self._lock:
            return self._kept.get(key)
