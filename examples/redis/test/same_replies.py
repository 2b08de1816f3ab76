#!/usr/bin/env python3
"""Asks redis-server and the server of this example the same, and holds their replies against each other byte for byte:
random commands of those that the example has, right and wrong ones, alone and many at once, whole and in small parts.

    same_replies.py PORT_OF_REDIS_SERVER PORT_OF_EXAMPLE SEEDS STEPS
"""

import random
import socket
import sys

LIMIT_S = 60

VALUES = [b"1", b"-7", b"abc", b"", b"9223372036854775807", b"-9223372036854775808", b"007", b"+1", b" 1", b"x" * 50,
          b"\r\n\xff\0", b"10", b"y" * 20_000]
NUMBERS = [b"1", b"5", b"-3", b"100", b"0", b"abc", b"1.5", b"9223372036854775807", b"-9223372036854775808", b"",
           b"9223372036854775", b"9999999999999999999", b"-0"]
# Nothing that ends while the test runs.
SECONDS = [b"1000", b"-5", b"0", b"abc", b"9223372036854775807", b"-9223372036854775807", b"9223372036854775",
           b"-9223372036854775808"]
WISHES = [[b"nx"], [b"XX"], [b"bad"], [b"ex"], [b"ex", b"1000"], [b"PX", b"1000000"], [b"ex", b"0"], [b"px", b"-1"],
          [b"ex", b"abc"], [b"ex", b"9223372036854775807"]]
LINES = [b"PING", b'ECHO "a\\x41\\n b"', b"echo 'a b\\''", b"EXISTS a b", b""]


def wire(words):
    """A command as clients send it."""
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class Commands:
    """Random ones, on the keys of one seed."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.keys = [b"%d:%d" % (seed, number) for number in range(6)]

    def some(self, what, least, most):
        return [self.chance.choice(what) for _ in range(self.chance.randint(least, most))]

    def one(self):
        key, value = self.some(self.keys, 1, 1), self.some(VALUES, 1, 1)
        kinds = [
            [b"get"] + key,
            [b"set"] + key + value,
            [b"set"] + key + value + sum(self.some(WISHES, 1, 3), []),
            self.some([b"incr", b"decr"], 1, 1) + key,
            self.some([b"incrby", b"decrby"], 1, 1) + key + self.some(NUMBERS, 1, 1),
            self.some([b"del", b"exists", b"mget"], 1, 1) + self.some(self.keys, 1, 4),
            [b"mset"] + self.some(self.keys + VALUES, 1, 6),
            self.some([b"expire", b"pexpire"], 1, 1) + key + self.some(SECONDS, 1, 1),
            self.some([b"ttl", b"persist"], 1, 1) + key,
            [b"ping"] + self.some(VALUES, 0, 2),
            [b"echo"] + value,
            [b"select"] + self.some([b"0", b"0", b"99", b"x"], 1, 1),
            [b"config", b"get"] + self.some([b"save", b"appendonly", b"nosuch"], 1, 1),
            [b"publish"] + key + value,
            # Too few words, too many, and names that there are not; these are shown in the reply as C prints them.
            self.some([b"get", b"set", b"incr", b"incrby", b"del", b"exists", b"mget", b"mset", b"ttl", b"echo"], 1, 1),
            self.some([b"get", b"incr", b"incrby", b"ttl", b"echo", b"persist"], 1, 1) + self.some(self.keys, 4, 4),
            self.some([b"foo", b"bar\r\nx", b"z" * 200], 1, 1)
            + [each.replace(b"\0", b"-") for each in self.some(VALUES, 0, 3)],
        ]
        name, *rest = self.chance.choice(kinds)
        return [self.chance.choice([name, name.upper(), name.capitalize()])] + rest

    def batch(self, mark):
        """What is sent at once, and what the last reply is."""
        commands = [self.one() for _ in range(self.chance.choice([1, 1, 3, 20]))]
        line = self.chance.choice(LINES) + self.chance.choice([b"\n", b"\r\n"]) if self.chance.random() < 0.1 else b""
        sent = b"".join(wire(command) for command in commands) + line + wire([b"echo", mark])
        return commands, sent, b"$%d\r\n%s\r\n" % (len(mark), mark)


def ask(peer, sent, last, part):
    """The replies, up to the last one."""
    for begin in range(0, len(sent), part):
        peer.sendall(sent[begin:begin + part])
    replies = b""
    while not replies.endswith(last):
        more = peer.recv(1 << 16)
        if not more:
            return replies + b" and the end"
        replies += more
    return replies


def main():
    ports, seeds, steps = sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4])
    for seed in range(seeds):
        peers = [socket.create_connection(("127.0.0.1", int(port)), LIMIT_S) for port in ports]
        random_commands = Commands(seed)
        # RESP3 in every other seed: its nulls and maps are others.
        if seed % 2 == 1:
            for peer in peers:
                peer.sendall(wire([b"hello", b"3"]))
                ask(peer, wire([b"echo", b"hello"]), b"$5\r\nhello\r\n", 100)
        for step in range(steps):
            commands, sent, last = random_commands.batch(b"%d.%d" % (seed, step))
            part = random_commands.chance.choice([len(sent), len(sent), len(sent), 1 + len(sent) // 50])
            wanted, given = ask(peers[0], sent, last, len(sent)), ask(peers[1], sent, last, part)
            if wanted != given:
                shown = "\n".join(repr([word[:60] for word in command]) for command in commands)
                sys.exit(f"seed {seed}, step {step}:\n{shown}\nredis-server: {wanted!r}\nthe example:  {given!r}")


if __name__ == "__main__":
    main()
