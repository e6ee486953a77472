"""The statements of sql/statements, as tests send them by themselves."""

import os
import re

from cardbox_test import ROOT


def planner_settings():
    """What our connections set for the planner, as SQL."""
    with open(os.path.join(ROOT, "src", "db", "connect.c"), encoding="utf-8") as file:
        found = re.findall(r"-c (jit|random_page_cost|plan_cache_mode|enable_\w+)=(\w+)", file.read())
    return "".join(f"SET {name} = {value};" for name, value in found)


def source_of(name):
    with open(os.path.join(ROOT, "sql", "statements", name + ".sql"), encoding="utf-8") as file:
        return file.read()


def text_of(name):
    """A statement without its comments."""
    return re.sub(r"--[^\n]*", "", source_of(name)).strip()


def prepare(name):
    """What prepares it as `it`, with parameters of the types that it says."""
    text = text_of(name)
    types = {int(n): kind for n, kind in re.findall(r"\$(\d+)::(\w+(?:\[\])?)", text)}
    return f"PREPARE it ({', '.join(types[n] for n in range(1, len(types) + 1))}) AS {text};"


def fill(name, *values):
    """The statement with values[0] in the place of $1 and so on; each must be used."""
    used = set()

    def value(match):
        used.add(int(match.group(1)))
        return f"({values[int(match.group(1)) - 1]})"

    filled = re.sub(r"\$(\d+)", value, text_of(name))
    assert used == set(range(1, len(values) + 1)), f"{name}.sql has parameters {sorted(used)}"
    return filled
