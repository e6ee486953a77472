"""An HTTP server that implements registered abilities.

    outside = OutsideServer(lambda request: {"sum": request.json["a"] + 1})

The function gets each Request and returns the reply: a value, which is answered with status 200 as JSON, a Reply, or
None if it has written to request.connection itself. `requests` are those that have arrived.
"""

import http.server
import json
import threading

from cardbox_test import at_end


class Request:
    def __init__(self, handler, text):
        self.method, self.path, self.headers = handler.command, handler.path, handler.headers
        self.text = text
        self.connection = handler.connection

    @property
    def json(self):
        return json.loads(self.text)


class Reply:
    def __init__(self, status=200, body=b"", **headers):
        self.status, self.body = status, body
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class _Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        request = Request(self, self.rfile.read(int(self.headers.get("Content-Length", 0))))
        outside = self.server.outside
        outside.requests.append(request)
        try:
            reply = outside.script(request)
            if reply is not None:
                self._send(reply)
        except (BrokenPipeError, ConnectionResetError):
            outside.broken_off += 1

    do_GET = do_POST

    def _send(self, reply):
        if not isinstance(reply, Reply):
            reply = Reply(body=json.dumps(reply).encode(), Content_Type="application/json")
        self.send_response(reply.status)
        for name, value in {"Content-Length": len(reply.body), **reply.headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(reply.body)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that went away is no error."""


class OutsideServer:
    def __init__(self, script):
        self.script = script
        self.requests = []
        self.broken_off = 0
        self.stopped = threading.Event()  # for scripts that wait
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.outside = self
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        at_end(self.stop)

    def stop(self):
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
