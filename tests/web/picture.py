#!/usr/bin/env python3
"""Makes src/web/inspector.png, the picture of the inspector in README.md, or the file that is named:
`cardbox dev` with its demo, and box 1 at the version at which the agent concludes too early."""

import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import page

PICTURE = os.path.join(cardbox_test.ROOT, "src", "web", "inspector.png")
BOX = "01970000-0000-7000-8000-000000000001"
VERSION = 8
WIDTH, HEIGHT = 1080, 760


def start_dev():
    """Returns the process and its URL."""
    folder = cardbox_test.temp_dir()
    os.chmod(folder, 0o755)  # if root runs this, the database runs as another user
    process = subprocess.Popen([os.path.join(cardbox_test.BUILD, "bin", "cardbox"), "dev", "--listen", "127.0.0.1:0",
                                "--data", os.path.join(folder, "var")], stdout=subprocess.PIPE, text=True)
    cardbox_test.at_end(process.kill)
    for line in process.stdout:
        ready = re.fullmatch(r"ready: (http://\S+)\n", line)
        if ready:
            return process, ready.group(1)
    raise AssertionError("cardbox dev did not start")


def draw(browser, url, path):
    browser.set_viewport(WIDTH, HEIGHT)
    browser.open(f"{url}/ui/#/demo/boxes/{BOX}?version={VERSION - 1}")
    browser.await_text(f"Version {VERSION - 1} of ")
    browser.click("[title='one version on']")  # this scrolls to the card that is new in the version
    browser.await_text(f"Version {VERSION} of ")
    browser.run("document.documentElement.style.scrollbarWidth = 'none';"
                "document.querySelector('.added').scrollIntoView({ block: 'end' }); scrollBy(0, 20)")
    browser.screenshot(path)


def make(path):
    browser = page()
    process, url = start_dev()
    draw(browser, url, path)
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(cardbox_test.WAIT_S) == 0


if __name__ == "__main__":
    try:
        make(sys.argv[1] if len(sys.argv) > 1 else PICTURE)
    except cardbox_test.Skip as missing:
        sys.exit(f"no picture: {missing}")
