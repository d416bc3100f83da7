"""A headless Chromium, driven over a pipe by the DevTools protocol."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
MODIFIERS = {"Enter": "\r"}


def chromium() -> str | None:
    """The path of a Chromium, or None where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page of a browser.

    Args:
        send: Where commands are written.
        receive: Where answers are read.
    """

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, os.fdopen(receive, "rb", buffering=0)
        self._count, self._session, self._rest = 0, "", b""
        target = self("Target.createTarget", url="about:blank")["targetId"]
        found = self("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        self("Page.enable")

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        """Give a command, and wait for its answer."""
        self._count += 1
        text = {"id": self._count, "method": method, "params": params}
        if self._session:
            text["sessionId"] = self._session
        os.write(self._send, json.dumps(text).encode() + b"\0")
        while (answer := self._next()).get("id") != self._count:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        found: dict[str, Any] = answer["result"]
        return found

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = self._receive.read(1 << 16)
            if not more:
                raise RuntimeError("the browser ended")
            self._rest += more
        text, self._rest = self._rest.split(b"\0", 1)
        found: dict[str, Any] = json.loads(text)
        return found

    def open(self, path: Path, width: int, height: int = 1000) -> None:
        """Show a file in a window of some width [px]."""
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self("Page.navigate", url=path.resolve().as_uri())
        self.ask("new Promise(done => document.readyState === 'complete' ? done() "
                 ": addEventListener('load', () => done()))")  # fmt: skip

    def ask(self, script: str) -> Any:
        """The value of an expression on the page, awaited."""
        found = self("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def click(self, selector: str) -> None:
        """Press the mouse on the middle of an element."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.ask(f"{element}.scrollIntoView({{block: 'center'}})")
        box = self.ask(f"(b => [b.x + b.width / 2, b.y + b.height / 2])"
                       f"({element}.getBoundingClientRect())")  # fmt: skip
        at = {"x": box[0], "y": box[1], "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, **at)

    def press(self, key: str) -> None:
        """Press a key, such as ``Enter`` or ``ArrowRight``."""
        text = {"text": MODIFIERS[key]} if key in MODIFIERS else {}
        codes = {"Enter": 13, "Tab": 9, "ArrowRight": 39, "ArrowLeft": 37}
        pressed = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        self("Input.dispatchKeyEvent", type="keyDown", **pressed, **text)
        self("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def picture(self, path: Path) -> None:
        """Write what is shown as PNG."""
        found = self("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def opened(program: str) -> Iterator[Browser]:
    """A browser that ends with the block."""
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()

    protocol = f'exec "$0" "$@" 3<&{in_read} 4>&{out_write}'
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                *("sh", "-c", protocol, program, *FLAGS),
                *(f"--user-data-dir={profile}", "--remote-debugging-pipe"),
            ],
            pass_fds=(in_read, out_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(in_read)
        os.close(out_write)
        try:
            yield Browser(in_write, out_read)
        finally:
            process.terminate()
            process.wait()
            os.close(in_write)
