#!/usr/bin/env python3
"""The picture of the inspector in README.md: picture.py makes one like it."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import picture

BYTES_MAX = 200_000


def check(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) <= BYTES_MAX, (data[:8], len(data))
    assert struct.unpack(">II", data[16:24]) == (picture.WIDTH, picture.HEIGHT)


def test_stored_picture():
    check(picture.PICTURE)


def test_new_picture():
    path = os.path.join(cardbox_test.temp_dir(), "inspector.png")
    picture.make(path)
    check(path)


if __name__ == "__main__":
    cardbox_test.main()
