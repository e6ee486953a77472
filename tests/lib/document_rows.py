"""What a source document requires, row by row: each row is one case, in a project of its own.

    row = document_rows.Rows("ledger")

    @row("259-286", "ldg:task:get of an unknown task gives null")
    def _(p):
        assert p.invoke("ldg:task:get", {"taskId": "nobody"}) == {"task": None}

    def test_rows():
        yield from row.cases()

The case is called "ledger:259-286 ldg:task:get of ..."; the numbers are lines of the document.
"""

import itertools
import json

from cardbox_test import server, url

_numbers = itertools.count(1)


class Project:
    """A project that nothing is in. Methods send requests and check the status of the answer."""

    def __init__(self, at=None):
        self.name = f"rows-{next(_numbers)}"
        self.at = at or server()

    def request(self, method, path, body=None, status=200, **headers):
        """Returns the Response. `body`: bytes, or a value that is sent as JSON. X_Y=... is the header X-Y."""
        headers = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
        body = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        answer = self.at.request(method, url(self.name) + path, body, headers)
        assert answer.status == status, (method, path, body and body[:300], answer)
        return answer

    def get(self, path, status=200):
        return self.request("GET", path, status=status).json()

    def post(self, path, body, status=200, **headers):
        return self.request("POST", path, body, status, **headers).json()

    def put(self, path, body, status=200):
        return self.request("PUT", path, body, status).json()

    def invoke(self, ability, value, status=200, **headers):
        return self.post(f"/abilities/{ability}", value, status, **headers)

    def refused(self, ability, value, status):
        """The error message of an ability that answers with this status."""
        return self.invoke(ability, value, status)["detail"]["error_message"]


class Rows:
    def __init__(self, document):
        self.document = document
        self.rows = []

    def __call__(self, lines, requires):
        def add(check):
            self.rows.append((f"{self.document}:{lines} {requires}", check))
            return check
        return add

    def cases(self):
        for name, check in self.rows:
            yield name, lambda check=check: check(Project())
