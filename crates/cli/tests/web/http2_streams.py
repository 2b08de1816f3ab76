"""What one stream of HTTP/2 has, and others on its connection have not: asked of `answers.flux`.

PYTHONPATH=examples/web/test:crates/cli/tests/support python3 http2_streams.py PORT PROCESS trailers|memory
"""

import sys

import hpack
import patience
from http2 import HELLO, Connection, frame, head


class Counting(Connection):
    """One that counts how often each stream is reset."""

    def __init__(self, port):
        super().__init__(port)
        self.counts = {}

    def on_rst_stream(self, stream, flags, payload):
        super().on_rst_stream(stream, flags, payload)
        self.counts[stream] = self.counts.get(stream, 0) + 1

    def outcome(self, stream):
        """The status and the content of an answer, or why there is none."""
        self.until(lambda: stream in self.ended or stream in self.resets or self.goaway is not None)
        if stream in self.resets:
            return f"{self.resets[stream]} {self.counts[stream]}"
        if stream not in self.ended:
            return f"connection: {self.goaway}"
        status = self.statuses[stream][-1]
        return f"{status} {self.contents[stream].decode().strip()}" if status == "200" else status


def with_trailers(stream, fields):
    """A request with these behind its content."""
    block = hpack.Encoder().encode(fields)
    parts = [block[at : at + 16384] for at in range(0, len(block), 16384)]
    all_frames = head(stream, "/trailer", ends=False, method="POST") + frame("DATA", stream, b"hello")
    for at, part in enumerate(parts):
        flags = (1 if at == 0 else 0) | (4 if at == len(parts) - 1 else 0)
        all_frames += frame("HEADERS" if at == 0 else "CONTINUATION", stream, part, flags)
    return all_frames


def trailers(connection, process):
    """As many as there may be, too many, and too large ones; never indexed, as the streams share a table."""
    few = [("digest", "d", True)] + [(f"x-{number}", "y", True) for number in range(99)]
    long = [("digest", "d", True)] + [(f"x-{number}", "y" * 1000, True) for number in range(64)]
    connection.send(HELLO + with_trailers(1, few + [("x", "y", True)]) + with_trailers(3, few)
                    + with_trailers(5, few * 4) + with_trailers(7, long))
    # A flow waits for the content when they come.
    late = with_trailers(9, few * 2)
    begin = late.index(b"hello") + len(b"hello")
    connection.send(late[:begin])
    patience.rest(process)
    connection.send(late[begin:])


def memory(connection, _):
    """The next two requests behind the first cannot be read."""
    connection.send(HELLO + head(1, "/lack"))
    connection.outcome(1)
    body = head(5, "/echo", ends=False, method="POST") + frame("DATA", 5, b"hello", 1)
    connection.send(head(3, "/text") + body + head(7, "/text") + head(9, "/text"))


def main():
    """Prints what becomes of each stream."""
    connection = Counting(int(sys.argv[1]))
    {"trailers": trailers, "memory": memory}[sys.argv[3]](connection, int(sys.argv[2]))
    print("; ".join(connection.outcome(stream) for stream in (1, 3, 5, 7, 9)))
    print("open" if connection.is_open() else "closed")


main()
