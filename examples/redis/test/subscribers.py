#!/usr/bin/env python3
"""Subscribes, publishes and hears, on each of the servers at these ports: each is to say just what is written here.
Then the same through redis-py. A subscriber that hears nothing must not hold up others, nor take memory without bound.

    subscribers.py PORT,PORT… PROCESS

The last port is that of the example, whose process is asked for its memory; 0 for none.
"""

import os
import socket
import sys

import redis

LIMIT_S = 60


def wire(*words):
    """A command as clients send it."""
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def array(*values, form=b"*"):
    """An array of texts and numbers, or a push."""
    parts = (b":%d\r\n" % each if isinstance(each, int) else b"$%d\r\n%s\r\n" % (len(each), each) for each in values)
    return form + b"%d\r\n" % len(values) + b"".join(parts)


class Client:
    def __init__(self, port):
        self.peer = socket.create_connection(("127.0.0.1", port), LIMIT_S)

    def ask(self, *commands):
        self.peer.sendall(b"".join(commands))

    def hears(self, *wanted):
        wanted, given = b"".join(wanted), b""
        while len(given) < len(wanted):
            more = self.peer.recv(len(wanted) - len(given))
            if not more:
                break
            given += more
        assert given == wanted, f"{given!r} in place of {wanted!r}"

    def hears_the_end(self):
        assert self.peer.recv(1) == b""


def by_hand(port):
    one, other = Client(port), Client(port)
    one.ask(wire(b"subscribe", b"a", b"b", b"a"))
    one.hears(array(b"subscribe", b"a", 1), array(b"subscribe", b"b", 2), array(b"subscribe", b"a", 2))
    other.ask(wire(b"publish", b"a", b"hello"), wire(b"publish", b"nobody", b"x"))
    other.hears(b":1\r\n:0\r\n")
    one.hears(array(b"message", b"a", b"hello"))
    # Its own commands, many at once.
    one.ask(wire(b"get", b"x"), wire(b"ping"), wire(b"ping", b"m"), wire(b"unsubscribe", b"b", b"c"))
    one.hears(b"-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
              b"this context\r\n", array(b"pong", b""), array(b"pong", b"m"), array(b"unsubscribe", b"b", 1),
              array(b"unsubscribe", b"c", 1))
    one.ask(wire(b"unsubscribe"), wire(b"ping"), wire(b"unsubscribe"), wire(b"subscribe"))
    one.hears(array(b"unsubscribe", b"a", 0), b"+PONG\r\n*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n"
              b"-ERR wrong number of arguments for 'subscribe' command\r\n")
    # In RESP3 a subscriber may ask anything, and hears itself.
    newer = Client(port)
    newer.ask(wire(b"hello", b"3"), wire(b"subscribe", b"a"))
    while newer.peer.recv(1) != b">":
        pass
    newer.hears(array(b"subscribe", b"a", 1, form=b""))
    newer.ask(wire(b"publish", b"a", b"self"), wire(b"get", b"nosuch"), wire(b"ping"))
    newer.hears(array(b"message", b"a", b"self", form=b">"), b":1\r\n_\r\n+PONG\r\n")
    # In order, to all.
    one.ask(wire(b"subscribe", b"a"))
    one.hears(array(b"subscribe", b"a", 1))
    numbers = [b"%d" % number for number in range(1000)]
    other.ask(*(wire(b"publish", b"a", number) for number in numbers))
    other.hears(b":2\r\n" * 1000)
    one.hears(*(array(b"message", b"a", number) for number in numbers))
    newer.hears(*(array(b"message", b"a", number, form=b">") for number in numbers))
    # One that is gone is not counted.
    one.ask(wire(b"quit"))
    one.hears(b"+OK\r\n")
    one.hears_the_end()
    other.ask(wire(b"publish", b"a", b"z"))
    other.hears(b":1\r\n")
    newer.peer.close()


def at_once(port):
    """Who has read that he is subscribed hears what anybody publishes from then on."""
    publisher = Client(port)
    for number in range(200):
        channel = b"at once %d" % number
        subscriber = Client(port)
        subscriber.ask(wire(b"subscribe", channel))
        subscriber.hears(array(b"subscribe", channel, 1))
        publisher.ask(wire(b"publish", channel, b"m"))
        publisher.hears(b":1\r\n")
        subscriber.hears(array(b"message", channel, b"m"))
        subscriber.peer.close()


def slow(port, memory_of):
    """Two who do not read, and one who does."""
    silent, reading, publisher = [Client(port), Client(port)], Client(port), Client(port)
    for each in silent + [reading]:
        each.ask(wire(b"subscribe", b"much"))
        each.hears(array(b"subscribe", b"much", 1))
    before = memory_of() if memory_of else 0
    content = b"x" * 100_000
    receivers = set()
    for _ in range(1000):
        publisher.ask(wire(b"publish", b"much", content))
        line = publisher.peer.makefile("rb", buffering=0).readline()
        assert line in (b":3\r\n", b":2\r\n", b":1\r\n"), f"the publisher hears {line!r}"
        assert receivers or line == b":3\r\n", f"a message goes to {line!r} of three subscribers"
        receivers.add(line)
        reading.hears(array(b"message", b"much", content))
        # redis-server keeps 32 MB for each.
        if line == b":1\r\n":
            break
    assert b":1\r\n" in receivers, f"the silent are not cut off: {receivers}"
    assert not memory_of or memory_of() - before < 30_000, "the silent take memory"


def with_redis_py(port):
    client = redis.Redis(port=port)
    assert client.set("py", "1", ex=100) and client.incr("py", 41) == 42 and client.get("py") == b"42"
    assert client.ttl("py") == 100 and client.persist("py") and client.ttl("py") == -1
    assert client.mset({"one": 1, "two": 2}) and client.mget("one", "no", "two") == [b"1", None, b"2"]
    together = client.pipeline(transaction=False).set("p", "v").get("p").delete("p").exists("p")
    assert together.execute() == [True, b"v", 1, 0]
    try:
        client.incr("py", "x")
        raise AssertionError("what is no number is added")
    except redis.ResponseError as refused:
        assert str(refused) == "value is not an integer or out of range"
    heard = client.pubsub(ignore_subscribe_messages=False)
    heard.subscribe("news")
    assert heard.get_message(timeout=LIMIT_S)["type"] == "subscribe"
    assert client.publish("news", "today") == 1
    assert heard.get_message(timeout=LIMIT_S)["data"] == b"today"
    heard.close()


def memory_kib(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def main():
    for port in sys.argv[1].split(","):
        by_hand(int(port))
        at_once(int(port))
        with_redis_py(int(port))
    pid = sys.argv[2]
    slow(int(port), None if pid == "0" else lambda: memory_kib(pid))


if __name__ == "__main__":
    main()
