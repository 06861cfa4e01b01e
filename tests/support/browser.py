"""Chromium without a window, driven over two pipes by its DevTools protocol: no port, no network,
no other package.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

NAMES = (
    "chromium-headless-shell",  # the quickest
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
FLAGS = (
    "--headless",
    "--no-sandbox",  # it refuses to run as root otherwise, and opens nothing but a page of ours
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-pipe",
)
# Chromium reads from 3 and writes to 4, whatever the numbers of our pipes are
PLUG = (
    "import os, sys; _, r, w, *run = sys.argv; os.dup2(int(r), 3); os.dup2(int(w), 4); "
    "os.execv(run[0], run)"
)


def found() -> str:
    """Where Chromium is, "" where it is not installed."""
    return next((place for name in NAMES if (place := shutil.which(name))), "")


class Browser:
    """One page. What it logs, asks the network for or throws is kept, until the test looks."""

    def __init__(self, profile: Path, width: int = 1400, height: int = 900) -> None:
        self._profile, self._size = profile, {"width": width, "height": height}
        self._rest = b""
        self._number = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        self._in, self._out = os.fdopen(ours_in, "rb", 0), os.fdopen(ours_out, "wb", 0)
        plugged = (sys.executable, "-ISc", PLUG, str(theirs_in), str(theirs_out))
        self._process = subprocess.Popen(
            (*plugged, found(), *FLAGS, f"--user-data-dir={self._profile}"),
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call(
                "Target.attachToTarget", targetId=target, flatten=True
            )["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
            self.call(
                "Emulation.setDeviceMetricsOverride",
                **self._size,
                deviceScaleFactor=1,
                mobile=False,
            )
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._out.close()  # upon which Chromium ends
        self._in.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What Chromium answers; what it tells meanwhile goes to ``events``."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer}"
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, address: str) -> None:
        """Load a page, to the end of its own scripts."""
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not self.told("Page.loadEventFired"):
            self.events.append(self._read())

    def told(self, *methods: str) -> list[dict[str, Any]]:
        """What was reported under these names since the page was opened."""
        return [
            event["params"] for event in self.events if event.get("method") in methods
        ]

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression, once it is there."""
        done = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def press(self, *keys: str) -> None:
        """Keys by name, or letters, one after the other."""
        for key in keys:
            text = (
                {"text": key}
                if len(key) == 1
                else {"text": "\r"}
                if key == "Enter"
                else {}
            )
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x: float, y: float, to_x: float, to_y: float) -> None:
        held = {"button": "left", "clickCount": 1}
        self.mouse("mousePressed", x, y, **held)
        self.mouse(
            "mouseMoved", (x + to_x) / 2, (y + to_y) / 2, button="left", buttons=1
        )
        self.mouse("mouseMoved", to_x, to_y, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, **held)

    def screenshot(self, file: Path) -> bytes:
        """The page as a PNG, also in ``file``."""
        picture = base64.b64decode(
            self.call("Page.captureScreenshot", format="png")["data"]
        )
        file.write_bytes(picture)
        return picture

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = self._in.read(1 << 16)
            assert piece, "Chromium has ended"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        read: dict[str, Any] = json.loads(message)
        return read
