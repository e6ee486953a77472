#!/usr/bin/env python3
"""Prints how many lines of src/*.[ch], include and sql are neither blank nor only comment."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from rules import files, read

FOLDERS = {"src": (".c", ".h"), "include": (".h",), "sql": (".sql",)}


def code_lines(text):
    """Comment markers within strings are rare enough not to matter."""
    without = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return sum(not re.match(r"\s*(--|//|$)", line) for line in without.split("\n"))


def total():
    return sum(code_lines(read(path)) for folder, ends in FOLDERS.items() for end in ends for path in files(end, folder))


if __name__ == "__main__":
    import cardbox_test

    os.chdir(cardbox_test.ROOT)
    print(total())
