"""Chromium without a window, driven over its debugging pipe: opens pages, runs scripts in them, takes pictures.

    with Browser() as browser:
        page = browser.open("report.html", width=390, height=800, dark=True)
        page.run("document.title")
        page.picture("report.png")
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def find_browser():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Page:
    """One open page."""

    def __init__(self, browser, session):
        self._browser, self._session = browser, session

    def call(self, method, **parameters):
        return self._browser.call(method, parameters, self._session)

    def run(self, script):
        """The value of an expression in the page. Raises what it throws."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode={"Tab": 9}.get(key, 0))

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self, path, whole=True):
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(answer["data"]))

    def print_to(self, path):
        Path(path).write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))

    def messages(self):
        """What the console said, and what could not be loaded or was not allowed to run."""
        return [event["params"] for event in self._browser.events
                if event["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
                and event.get("sessionId") == self._session]

    def requests(self):
        """Addresses that were asked for."""
        return [event["params"]["request"]["url"] for event in self._browser.events
                if event["method"] == "Network.requestWillBeSent" and event.get("sessionId") == self._session]


class Browser:
    """A browser that ends with its block."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        in_read, self._write = os.pipe()
        self._read, out_write = os.pipe()

        def wire():  # the browser reads from 3 and writes to 4
            for source, target in ((in_read, 3), (out_write, 4)):
                os.dup2(os.dup(source) if source in (3, 4) else source, target)

        # The pages are this project's own, so the sandbox, which containers forbid, is not needed.
        self._process = subprocess.Popen(
            [find_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--user-data-dir={self._folder.name}"],
            pass_fds=(3, 4, in_read, out_write), preexec_fn=wire, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(in_read), os.close(out_write)
        self._next, self._rest, self.events = 0, b"", []
        return self

    def __exit__(self, *_):
        os.close(self._write), os.close(self._read)
        self._process.terminate()
        self._process.wait(30)
        self._folder.cleanup()

    def _receive(self):
        while b"\0" not in self._rest:
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser ended")
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, parameters=None, session=None):
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def wait(self, method, session):
        while not any(event["method"] == method and event.get("sessionId") == session for event in self.events):
            answer = self._receive()
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, width=1200, height=900, dark=False):
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        page.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        page.call("Page.navigate", url=Path(path).resolve().as_uri())
        self.wait("Page.loadEventFired", session)
        return page
