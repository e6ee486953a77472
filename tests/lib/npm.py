"""Packages of npm, installed below build/ on first use."""

import fcntl
import json
import os
import subprocess


def _is_installed(modules, package):
    name, _, version = package.rpartition("@")
    path = os.path.join(modules, name, "package.json")
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as text:
        found = json.load(text)["version"]
    return found == version or found.startswith(version + ".")


def install(folder, *packages, scripts=False):
    """Installs packages (NAME@VERSION, or NAME@MAJOR) in a folder of their own; returns its node_modules.

    `scripts`: the packages may run their install scripts. Two tests may call it at the same time.
    """
    modules = os.path.join(folder, "node_modules")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, ".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not all(_is_installed(modules, package) for package in packages):
            done = subprocess.run(["npm", "install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--loglevel=error",
                                   *([] if scripts else ["--ignore-scripts"]), *packages], capture_output=True, text=True, timeout=240)
            assert done.returncode == 0, f"npm install {' '.join(packages)}: {done.stdout}{done.stderr}"
    return modules
