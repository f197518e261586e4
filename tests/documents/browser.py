"""Headless Chromium by its DevTools protocol over a pair of pipes: no package beside the browser.

    with Browser() as browser:
        browser.open("file:///...", width=390)
        browser.value("document.title")

What the page asked for, and what it wrote on the console, is in `requests` and `complaints`.
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

SKIPPED = 77
REQUIRED = "COMPOUND_BROWSER_REQUIRED"  # set to 1 where a missing browser is a mistake
NAMES = ("chromium", "chromium-browser", "google-chrome")
LONGEST_WAIT = 60


class BrowserFailed(Exception):
    pass


def find_browser():
    """Its path. None where there is none and none is required; SystemExit where one is."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found and os.environ.get(REQUIRED) == "1":
        raise SystemExit(f"{REQUIRED}=1, but none of {', '.join(NAMES)} is on PATH; install Debian's package chromium")
    return found


class Browser:
    def __init__(self):
        program = find_browser()
        if not program:
            raise BrowserFailed("there is no Chromium")
        self.folder = tempfile.mkdtemp(prefix="compound-browser-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        for end in (to_browser, from_browser):
            os.set_inheritable(end, True)
        # The browser reads commands from its file 3 and answers on 4. Its sandbox does not work for root and in
        # containers; the pages are our own.
        command = [program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                   "--disable-component-update", "--hide-scrollbars", f"--user-data-dir={self.folder}", "about:blank"]
        self.log = open(os.path.join(self.folder, "log"), "w+b")
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "sh", *command],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.unread, self.number, self.session = b"", 0, None
        self.requests, self.complaints, self.events = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (BrowserFailed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, until):
        while b"\0" not in self.unread:
            if not select.select([self.read_end], [], [], max(0, until - time.monotonic()))[0]:
                raise BrowserFailed(f"no answer within {LONGEST_WAIT} s")
            more = os.read(self.read_end, 1 << 16)
            if not more:
                self.log.seek(0)
                raise BrowserFailed("it ended: " + self.log.read().decode(errors="replace")[-2000:])
            self.unread += more
        text, self.unread = self.unread.split(b"\0", 1)
        return json.loads(text)

    def take_event(self, event):
        method, values = event["method"], event.get("params", {})
        self.events.append(method)
        if method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in values["args"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.complaints.append(values["entry"]["text"])

    def call(self, method, **values):
        """The answer to a command of the protocol."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": values}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.write_end, json.dumps(command).encode() + b"\0")
        until = time.monotonic() + LONGEST_WAIT
        while True:
            answer = self.message(until)
            if "id" not in answer:
                self.take_event(answer)
            elif answer["id"] == self.number:
                if "error" in answer:
                    raise BrowserFailed(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def wait_for(self, method):
        until = time.monotonic() + LONGEST_WAIT
        while method not in self.events:
            answer = self.message(until)
            if "id" not in answer:
                self.take_event(answer)

    def open(self, url, width=1280, height=900, dark=False, script=True):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        for address in ("about:blank", url):  # the same address with another fragment would not load again
            self.events.clear()
            failed = self.call("Page.navigate", url=address).get("errorText")
            if failed:
                raise BrowserFailed(f"{address}: {failed}")
            self.wait_for("Page.loadEventFired")

    def value(self, expression):
        """Of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserFailed(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def press(self, key):
        """A key by its name, as ArrowDown or Tab."""
        code = {"Tab": 9, "ArrowUp": 38, "ArrowDown": 40, "Enter": 13}[key]
        for what in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=what, key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, file, whole=True):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(file).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(file).write_bytes(base64.b64decode(picture["data"]))
