"""A headless Chromium controlled through its DevTools protocol, with Python's standard library only.

Supports what browser_test.py needs: a page, its exceptions and console, evaluated JavaScript, screenshots.
"""

import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import time
import urllib.parse


def find_browser():
    """The path of a Chromium, or None. TW_CHROMIUM names one."""
    names = [os.environ.get("TW_CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"]
    return next((path for path in (name and shutil.which(name) for name in names) if path), None)


class WebSocket:
    """A client of RFC 6455 that sends and receives whole text messages."""

    def __init__(self, url, timeout):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self._some()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.decode(errors="replace"))

    def _some(self):
        part = self.socket.recv(1 << 16)
        if not part:
            raise ConnectionError("the browser hung up")
        return part

    def _exactly(self, n):
        while len(self.buffer) < n:
            self.buffer += self._some()
        taken, self.buffer = self.buffer[:n], self.buffer[n:]
        return taken

    def send(self, text, opcode=1):
        data = text.encode()
        size = struct.pack("!B", 0x80 | len(data)) if len(data) < 126 else struct.pack("!BH", 0xFE, len(data)) if len(data) < 1 << 16 else struct.pack("!BQ", 0xFF, len(data))
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.socket.sendall(bytes([0x80 | opcode]) + size + mask + masked)

    def receive(self):
        message = b""
        while True:
            first, length = self._exactly(2)
            if length == 126:
                (length,) = struct.unpack("!H", self._exactly(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self._exactly(8))
            part = self._exactly(length)
            if first & 15 == 9:  # ping
                self.send(part.decode(), opcode=10)
            elif first & 15 == 8:
                raise ConnectionError("the browser ended the connection")
            elif first & 15 in (0, 1):
                message += part
                if first & 0x80:
                    return message.decode()

    def close(self):
        self.socket.close()


class Browser:
    """One tab of a headless browser. Close it, or use `with`."""

    def __init__(self, path, folder, timeout=60):
        self.folder = pathlib.Path(folder)
        profile = self.folder / "profile"
        words = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                 "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
                 f"--user-data-dir={profile}", "about:blank"]
        environment = {**os.environ, "HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder)}
        self.log = open(self.folder / "browser.log", "wb")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log, env=environment, start_new_session=True)
        self.events, self.number, self.timeout, self.socket = [], 0, timeout, None
        try:
            self._connect(profile / "DevToolsActivePort")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _connect(self, port_file):
        until = time.monotonic() + self.timeout
        while not (port_file.exists() and port_file.read_text().count("\n") >= 1):
            if self.process.poll() is not None or time.monotonic() > until:
                raise ConnectionError("the browser did not start; see " + self.log.name)
            time.sleep(0.05)
        port, path = port_file.read_text().split("\n")[:2]
        self.socket = WebSocket(f"ws://127.0.0.1:{port}{path}", self.timeout)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    session = None

    def call(self, method, **parameters):
        """Sends one command and returns its result; queues events received meanwhile."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, expression):
        """Waits until an expression is true."""
        end = time.monotonic() + self.timeout
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.05)

    def window(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.until("document.readyState === 'complete' && location.protocol === 'file:'")
        self.settle()

    def settle(self):
        """Waits for two drawn frames and pending resizes."""
        self.evaluate("new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1))), 150))")

    def complaints(self):
        """Exceptions, errors and warnings of console and log so far."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                found.append(details.get("exception", {}).get("description") or details["text"])
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(" ".join(str(one.get("value", one.get("description"))) for one in parameters["args"]))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
            elif method == "Page.javascriptDialogOpening":
                found.append("a dialog opened: " + parameters["message"])
        return found

    def requests(self):
        """Addresses requested over a network."""
        urls = [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("file:", "data:", "about:"))]

    def screenshot(self, path, whole=False):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))

    def close(self):
        if self.socket:
            self.socket.close()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.log.close()
