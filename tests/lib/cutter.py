"""cutter: a TCP proxy that cuts connections at random, before a request, after it, or within an
answer, with a reset. A process of its own: `cutter.py CHANCE PORT...`, one listener for each PORT,
which are those of servers; prints the ports that it listens on. CHANCE: of a cut for each piece."""

import random
import selectors
import socket
import struct
import sys


class Pair:
    """A client's connection and the server's behind it."""

    def __init__(self, cutter, client, port):
        self.cutter = cutter
        self.other = {}
        server = socket.create_connection(("127.0.0.1", port))
        for one, other in ((client, server), (server, client)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.other[one] = other
            cutter.register(one, selectors.EVENT_READ, self)

    def forward(self, source, chance):
        try:
            data = source.recv(65536)
            if data and random.random() >= chance:
                self.other[source].sendall(data)
                return
            if data and random.random() < 0.7:  # the other side gets a part of it, or all
                self.other[source].sendall(data[:random.choice((len(data), random.randrange(len(data))))])
        except OSError:
            data = b"x"
        self.close(reset=bool(data))

    def close(self, reset):
        for one in self.other:
            self.cutter.unregister(one)
            if reset:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close()


def main():
    chance = float(sys.argv[1])
    cutter = selectors.DefaultSelector()
    for port in map(int, sys.argv[2:]):
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        cutter.register(listener, selectors.EVENT_READ, port)
        print(listener.getsockname()[1], flush=True)
    while True:
        for key, _ in cutter.select():
            if isinstance(key.data, int):
                Pair(cutter, key.fileobj.accept()[0], key.data)
            elif key.fileobj.fileno() >= 0:
                key.data.forward(key.fileobj, chance)


if __name__ == "__main__":
    main()
