#!/usr/bin/env python3
"""Makes openapi/cardbox.json, which cardboxd embeds, from openapi/cardbox.yaml.

Usage: openapi/build.py [--check]     --check writes nothing and fails if the two differ
"""
import json
import pathlib
import sys

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCE = FOLDER / "cardbox.yaml"
TARGET = FOLDER / "cardbox.json"


def compact():
    """The document as one line of JSON, members in the order of the YAML."""
    document = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def main():
    if sys.argv[1:] == ["--check"]:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != compact():
            sys.exit("openapi/cardbox.json is not what openapi/cardbox.yaml says: run openapi/build.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        TARGET.write_text(compact(), encoding="utf-8")


main()
