"""A headless Chromium by the WebDriver protocol: chromedriver over plain HTTP, nothing else.

`with Browser() as page:` starts both; where they are not installed, Skip says so. The browser
resolves no name and reaches this machine alone: what a page would load from elsewhere fails.
"""

import base64
import contextlib
import fcntl
import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request

import cardbox_test

# The program needs a third less CPU time than `chromium --headless`.
CHROMIUM = "chromium-headless-shell"
PACKAGES = [CHROMIUM, "chromium-driver"]
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-extensions", "--no-first-run", "--disable-background-networking",
             "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]


class Browser:
    def __init__(self, width=1280, height=900, dark=False):
        missing = [name for name in ("chromedriver", CHROMIUM) if not shutil.which(name)]
        if missing:
            raise cardbox_test.Skip(f"{' and '.join(missing)} not installed; on Debian: "
                                    f"apt-get install {' '.join(PACKAGES)}")
        self.home = cardbox_test.temp_dir()
        self.driver = None
        cardbox_test.at_end(self.stop)
        self.root = f"http://127.0.0.1:{self._start_driver()}"
        dark_mode = ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]
        options = {"binary": shutil.which(CHROMIUM), "args": [
            *ARGUMENTS, f"--user-data-dir={self.home}/profile", f"--window-size={width},{height}",
            *(dark_mode if dark else [])]}
        wanted = {"capabilities": {"alwaysMatch": {
            "browserName": "chrome-headless-shell", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}}}
        self.root += "/session/" + self._ask("POST", "/session", wanted)["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the driver's session of processes: the browser is in it."""
        if self.driver and self.driver.poll() is None:
            os.killpg(self.driver.pid, signal.SIGKILL)
            self.driver.wait()

    def _start_driver(self):
        """Returns the driver's port. It takes a free port of IPv6, and ends if the same one of IPv4 is in use."""
        said = ""
        for _ in range(20):
            self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                           stderr=subprocess.DEVNULL, start_new_session=True,
                                           env={**os.environ, "HOME": self.home})
            port, said = self._port()
            if port:
                return port
            self.driver.wait()
            assert "port not available" in said, f"chromedriver ended: {said}"
        raise AssertionError(f"chromedriver finds no port: {said}")

    def _port(self):
        """The port that the driver says it has, None if it ends, and what it said. Its lines may come at once: what select
        waits for is read past Python's buffer, which would keep the second of them from it."""
        deadline = time.monotonic() + cardbox_test.WAIT_S
        said = ""
        while time.monotonic() < deadline:
            if select.select([self.driver.stdout], [], [], 1)[0]:
                more = os.read(self.driver.stdout.fileno(), 4096)
                said += more.decode()
                found = re.search(r"successfully on port (\d+)\D", said)
                if found or not more:
                    return found and found.group(1), said
        raise AssertionError(f"chromedriver does not start: {said}")

    def _ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=cardbox_test.WAIT_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    # --- pages ---

    def open(self, url):
        self._ask("POST", "/url", {"url": url})

    def reload(self):
        self._ask("POST", "/refresh", {})

    def run(self, script, *arguments):
        """Runs the body of a function in the page; returns what it returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments, seconds=cardbox_test.WAIT_S):
        """Waits until the script gives something true; returns that."""
        deadline = time.monotonic() + seconds
        while True:
            found = self.run(script, *arguments)
            if found:
                return found
            assert time.monotonic() < deadline, f"not within {seconds} s: {script}\n{self.text()}"
            time.sleep(0.05)

    def text(self):
        return self.run("return document.body.innerText")

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((one) => "
                        "one.innerText)", selector)

    def await_texts(self, selector, texts):
        """Waits until the elements have these texts, such as names that come after the page."""
        self.wait("return JSON.stringify([...document.querySelectorAll(arguments[0])].map((one) => one.innerText)) === "
                  "JSON.stringify(arguments[1])", selector, texts)

    def await_text(self, text):
        return self.wait("return document.body.innerText.includes(arguments[0])", text)

    def element(self, selector):
        found = self._ask("POST", "/element", {"using": "css selector", "value": selector})
        return next(iter(found.values()))

    def click(self, selector):
        """Clicks an element. For 5 seconds it tries again if the page replaces the element, or if something covers it."""
        deadline = time.monotonic() + 5
        while True:
            try:
                self._ask("POST", f"/element/{self.element(selector)}/click", {})
                return
            except AssertionError as error:
                if not re.search("stale element|click intercepted", str(error)) or time.monotonic() > deadline:
                    raise
                self.run("document.querySelector(arguments[0])?.scrollIntoView({block: 'center'})", selector)

    def type(self, selector, keys):
        self._ask("POST", f"/element/{self.element(selector)}/value", {"text": keys})

    def complaints(self):
        """What the page logged as errors, such as exceptions and what the policy refused."""
        entries = self._ask("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]

    def _command(self, name, **parameters):
        return self._ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def set_viewport(self, width, height=900):
        """Gives the page this size in pixels; that of the window is larger."""
        self._command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=False)

    def set_colors(self, scheme):
        """Makes `light` or `dark` the colours that the reader prefers."""
        self._command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def on_each_page(self, script):
        """Runs the script in every page that is opened from now on, before the page's own."""
        self._command("Page.addScriptToEvaluateOnNewDocument", source=script)

    def windows(self):
        return self._ask("GET", "/window/handles")

    @contextlib.contextmanager
    def narrow(self, width=400):
        """The page is as narrow as a telephone, until the block ends."""
        self.set_viewport(width)
        yield
        self._command("Emulation.clearDeviceMetricsOverride")

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self._ask("GET", "/screenshot")))


@cardbox_test.once
def page():
    """The one browser of a test's file."""
    with open(os.path.join(cardbox_test.BUILD, "chromium.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side, and apt-get does not wait for another
        if not (shutil.which("chromedriver") and shutil.which(CHROMIUM)):
            install_chromium()
    return Browser()


def install_chromium():
    """On demand: it is too large for everybody who runs tests. Only the download, which may be
    ended at any time, has a limit."""
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    install = [*apt, "install", "-y", "--no-install-recommends"]
    try:
        for command in ([*apt, "update"], [*install, "--download-only", *PACKAGES]):
            subprocess.run(command, capture_output=True, timeout=90, check=True)
        subprocess.run([*install, *PACKAGES], capture_output=True, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise cardbox_test.Skip(f"no chromium, and it can't be installed: {error}") from None


def no_complaints(browser):
    complaints = browser.complaints()
    assert not complaints, complaints
