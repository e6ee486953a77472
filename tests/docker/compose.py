#!/usr/bin/env python3
"""Prints a file of Docker compose as JSON, with variables replaced as compose replaces them."""

import json
import os
import re
import sys

import yaml

# ${NAME:-default} or ${NAME:?message}
VARIABLE = re.compile(r"\$\{(\w+):([-?])([^}]*)\}")


def value(match):
    name, kind, rest = match.groups()
    if not os.environ.get(name) and kind == "?":
        sys.exit(f"required variable {name} is missing a value: {rest}")
    return os.environ.get(name) or rest


def replace(node):
    if isinstance(node, dict):
        return {name: replace(member) for name, member in node.items()}
    if isinstance(node, list):
        return [replace(element) for element in node]
    if not isinstance(node, str):
        return node
    text = VARIABLE.sub(value, node)
    if "$" in VARIABLE.sub("", node):
        sys.exit(f"not a known form of a variable: {node}")
    return text


with open(sys.argv[1], encoding="utf-8") as file:
    json.dump(replace(yaml.safe_load(file)), sys.stdout)
