#!/usr/bin/env python3
"""Runs a program again and again, each time in a forked process, which kills itself at a step: before a line of the program
that is executed, or after an answer of a server.

Usage: lives.py PROGRAM. Each line of the standard input is {"arguments": [...], "step": N}; without a step, the process
lives to its end. The answer is a line {"status": N, "output": "..."}, where the status of a killed process is -9.
"""

import http.client
import json
import os
import signal
import sys
import tempfile
import urllib.request  # noqa: F401  pylint: disable=unused-import  # loaded once for all processes

import cardbox  # noqa: F401  pylint: disable=unused-import

PATH = sys.argv[1]
with open(PATH, encoding="utf-8") as text:
    CODE = compile(text.read(), PATH, "exec")
GET_RESPONSE = http.client.HTTPConnection.getresponse


def live(arguments, steps):
    """Executes the program in this process."""
    left = [-1 if steps is None else steps]

    def step():
        left[0] -= 1
        if left[0] == -1:
            os.kill(os.getpid(), signal.SIGKILL)

    def trace(frame, event, _):
        if frame.f_code.co_filename != PATH:
            return None
        if event == "line":
            step()
        return trace

    def get_response(connection):
        response = GET_RESPONSE(connection)
        step()
        return response
    http.client.HTTPConnection.getresponse = get_response
    sys.argv = [PATH, *arguments]
    sys.settrace(trace)
    exec(CODE, {"__name__": "__main__"})  # pylint: disable=exec-used
    sys.settrace(None)


def run(arguments, step=None):
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            live(arguments, step)
            sys.stdout.flush()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        return {"status": status, "output": output.read().decode()}


for line in sys.stdin:
    print(json.dumps(run(**json.loads(line))), flush=True)
