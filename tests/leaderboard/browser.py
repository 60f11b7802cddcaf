"""A real Chromium, driven over its debugging pipe: open, run script, look, screenshot."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--remote-debugging-pipe", "--disable-dev-shm-usage"),
)


class Browser:
    """One page in one fresh profile. Use as a context manager."""

    def __init__(self, width: int = 1280, height: int = 900, *, dark: bool = False) -> None:
        self.size = (width, height)
        self.dark = dark
        self.log: list[str] = []
        self.requests: list[str] = []
        self._number = 0

    def __enter__(self) -> Browser:
        self._profile = tempfile.mkdtemp()
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()

        # the browser reads commands from descriptor 3 and writes answers to 4
        command = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                command,
                str(CHROMIUM),
                *FLAGS,
                f"--user-data-dir={self._profile}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs_in, theirs_out),
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer = b""
        self._session = ""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=self.size[0],
            height=self.size[1],
            deviceScaleFactor=1,
            mobile=self.size[0] < 600,
        )
        scheme = "dark" if self.dark else "light"
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._to)
        os.close(self._from)
        self._process.terminate()
        self._process.wait(20)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        number = self._send(method, params)
        while True:
            message = self._receive()
            self._note(message)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result

    def _note(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        if message.get("method") == "Log.entryAdded":
            self.log.append(params["entry"]["text"])
        if message.get("method") == "Page.javascriptDialogOpening":
            self.log.append(f"dialog: {params['message']}")
            self._send("Page.handleJavaScriptDialog", {"accept": True})

    def _send(self, method: str, params: dict[str, Any]) -> int:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        return self._number

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._from], [], [], 60)[0]:
                raise TimeoutError("Chromium did not answer")
            part = os.read(self._from, 1 << 20)
            if not part:
                raise RuntimeError("Chromium ended")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def open(self, url: str) -> None:
        """Go to a page and wait until it has loaded."""
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """Value of a JavaScript expression (awaited when it is a promise)."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def choose(self, path: Path) -> None:
        """Choose a file in the page's only file field, as a person does."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        field = self.call("DOM.querySelector", nodeId=root, selector="input[type=file]")
        self.call("DOM.setFileInputFiles", files=[str(path)], nodeId=field["nodeId"])

    def wait(self, condition: str, seconds: float = 30) -> None:
        """Wait until a JavaScript condition holds."""
        deadline = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never became true: {condition}")
            time.sleep(0.05)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a PNG of what is seen, or of the whole page."""
        extra: dict[str, Any] = {"captureBeyondViewport": True} if whole else {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            extra["clip"] = {**size, "x": 0, "y": 0, "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", **extra)["data"]
        path.write_bytes(base64.b64decode(data))


def send_by_page(browser: Browser, url: str, path: Path, token: str, *ticked: str) -> None:
    """Open a board's page for submissions, choose a file there and send it.

    ticked : names of the boxes to tick first.
    """
    browser.open(f"{url}/submit")
    browser.choose(path)
    browser.run(f"document.querySelector('input[type=password]').value = '{token}'")
    for name in ticked:
        browser.run(f"document.querySelector('input[name={name}]').click()")
    browser.run("document.querySelector('#send button').click()")
