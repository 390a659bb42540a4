# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A headless Chromium, driven over a pair of pipes: no port, no package, no network.

Protocol: Chrome DevTools (``--remote-debugging-pipe``), JSON messages that end with a
null byte, to the browser on its descriptor 3 and from it on 4.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--hide-scrollbars",
    ),
    *("--disable-quic", "--disable-sync", "--disable-component-update"),
    *("--disable-background-networking", "--disable-dev-shm-usage"),
)
PATIENCE = 60.0  # seconds: a browser that says nothing for so long is broken


@cache
def installed() -> str | None:
    """The path of a browser that starts, or None: a distribution's may be a stub."""
    for path in filter(None, map(shutil.which, NAMES)):
        asked = subprocess.run([path, "--version"], capture_output=True, check=False)
        if asked.returncode == 0:
            return path
    return None


class Browser:
    """One browser with one page; use it in a ``with``."""

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="league-browser-")
        to_read, self.out = os.pipe()
        self.back, from_write = os.pipe()
        os.set_blocking(self.back, False)
        # above 10, so that no redirection overwrites the other's source
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_read, from_write)]
        redirected = f'exec "$@" 3<&{high[0]} 4>&{high[1]}'
        pipes = ["--remote-debugging-pipe", f"--user-data-dir={self.profile}"]
        self.process = subprocess.Popen(
            ["bash", "-c", redirected, "bash", installed(), *FLAGS, *pipes],
            pass_fds=high,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for descriptor in (to_read, from_write, *high):
            os.close(descriptor)
        self.number, self.rest, self.events = 0, b"", []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out), os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self) -> dict:
        """The next message of the browser."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("the browser does not answer")
            try:
                self.rest += os.read(self.back, 1 << 20)
            except BlockingIOError:
                time.sleep(0.005)
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method: str, **parameters) -> dict:
        """One command and its answer; events on the way are kept."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(
        self,
        path: Path,
        width: int,
        height: int = 900,
        dark: bool = False,
        fragment: str = "",
    ) -> None:
        """Loads a file at this size of window and waits for it; fragment: `#a-row`."""
        self.events.clear()
        phone = width < 600
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", mobile=phone, **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.resolve().as_uri() + fragment)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())

    def run(self, script: str):
        """The value of a JavaScript expression."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:600])
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors and warnings of the console since the page was opened."""
        bad = {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}
        return [
            json.dumps(e["params"])[:400] for e in self.events if e.get("method") in bad
        ]

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        sent = [
            e for e in self.events if e.get("method") == "Network.requestWillBeSent"
        ]
        return [e["params"]["request"]["url"][:200] for e in sent]

    def screenshot(self, path: Path, whole: bool = True) -> None:
        """A PNG of the page."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self) -> bytes:
        """The page as printed."""
        return base64.b64decode(
            self.call("Page.printToPDF", preferCSSPageSize=True)["data"]
        )
