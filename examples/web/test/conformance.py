#!/usr/bin/env python3
"""Sends the requests of conformance.md to a server, each on a connection of its own, and compares the answers.

python3 conformance.py [--nginx] PORT

The server has the files that `conformance.py --files FOLDER` writes.
"""

import os
import re
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conformance.md")
PATIENCE_S = 8
PROBE = b"GET /digits.txt HTTP/1.1\r\nHost: probe\r\n\r\n"
MARKS = {"↵": "\r\n", "␊": "\n", "␍": "\r", "␉": "\t"}


def write_files(folder):
    """What the server of the tests has."""
    os.makedirs(os.path.join(folder, "folder"))
    contents = {"digits.txt": "0123456789", "empty.txt": "", "index.html": "first", "folder/index.html": "index"}
    for name, content in contents.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        os.utime(path, (1767323045, 1767323045))
    os.symlink("/etc/passwd", os.path.join(folder, "outside"))


def repeated(text):
    """The innermost `«x*9»` first."""
    while (found := re.search(r"«([^«»]*)\*(\d+)»", text)) is not None:
        text = text[: found.start()] + found[1] * int(found[2]) + text[found.end() :]
    return text


def bytes_of(text, known):
    """What a row sends."""
    text = repeated(text)
    for mark, meaning in MARKS.items():
        text = text.replace(mark, meaning)
    for name, value in known.items():
        text = text.replace("{" + name + "}", value)
    return re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), text).encode("latin-1")


class Wanted:
    """One response of an answer."""

    def __init__(self, text, known):
        for name, value in known.items():
            text = text.replace("{" + name + "}", value)
        self.content = None
        if (found := re.search(r"(?:^| )=(.*)$", text)) is not None:
            self.content, text = found[1].encode(), text[: found.start()]
        self.statuses = re.match(r"\d{3}(?: \d{3})*", text)[0].split()
        self.is_head = re.search(r"\d head\b", text) is not None
        fields = re.split(r" (?=[A-Z][A-Za-z-]*=)", text)[1:]
        self.fields = [field.split("=", 1) for field in fields]


def rows():
    """Each row of the page: where, what, sent, answer, nginx."""
    title = ""
    with open(PAGE, encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            if line.startswith("## "):
                title = line[3:].strip()
            found = re.match(r"\| (.*?) \| `(.*)` \| (.*?) \| ?(.*?) ?\|$", line)
            if found is not None:
                yield (f"{number}, {title}: {found[1]}", found[2], found[3], found[4])


class Connection:
    """One, and what came on it."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.rest = b""

    def more(self):
        """False at the end."""
        try:
            came = self.socket.recv(65536)
        except ConnectionResetError:
            came = b""
        self.rest += came
        return came != b""

    def response(self, is_head):
        """The next one: its status, fields and content; None at the end."""
        while b"\r\n\r\n" not in self.rest:
            if not self.more():
                return None
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        status = re.fullmatch(r"HTTP/1\.1 (\d{3}) .*", lines[0])[1]
        fields = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
        has_content = not is_head and status not in ("204", "304")
        if has_content and fields.get("transfer-encoding") == "chunked":
            while b"0\r\n\r\n" not in self.rest:
                if not self.more():
                    return None
            content, self.rest = self.rest.split(b"0\r\n\r\n", 1)
            return status, fields, content
        size = int(fields["content-length"]) if has_content else 0
        while len(self.rest) < size:
            if not self.more():
                return None
        content, self.rest = self.rest[:size], self.rest[size:]
        return status, fields, content

    def is_open(self):
        """Whether another request is answered."""
        if self.rest:
            return True
        try:
            self.socket.sendall(PROBE)
            return self.response(False) is not None
        except OSError:
            return False

    def is_closed(self):
        """Whether the server closes it, and sends nothing more."""
        try:
            return not self.more()
        except TimeoutError:
            return False


def fault_of(port, sent, answer, known, all_of_it):
    """What is wrong with the answer; None where nothing is."""
    *responses, end = [part.strip() for part in repeated(answer).split(";")]
    connection = Connection(port)
    try:
        try:
            connection.socket.sendall(bytes_of(sent, known))
        except OSError:
            pass  # the server may have answered before it was all sent
        for number, text in enumerate(responses, 1):
            wanted = Wanted(text, known)
            came = connection.response(wanted.is_head)
            if came is None:
                return f"answer {number} does not come"
            status, fields, content = came
            if status not in wanted.statuses:
                return f"answer {number} is {status}"
            if not all_of_it:
                continue
            if "date" not in fields:
                return f"answer {number} has no Date"
            for name, value in wanted.fields:
                if fields.get(name.lower()) != value:
                    return f"answer {number} has {name} {fields.get(name.lower())}"
            if wanted.content is not None and content != wanted.content:
                return f"answer {number} has the content {content!r}"
        is_right = connection.is_open() if end == "open" else connection.is_closed()
        return None if is_right else f"it is not {end}"
    except TimeoutError:
        return "nothing comes"
    finally:
        connection.socket.close()


def main():
    if sys.argv[1] == "--files":
        return write_files(sys.argv[2])
    is_nginx = sys.argv[1] == "--nginx"
    port = int(sys.argv[-1])
    first = Connection(port)
    first.socket.sendall(PROBE)
    _, fields, _ = first.response(False)
    first.socket.close()
    known = {"etag": fields["etag"], "date": fields["last-modified"]}
    cases = [row for row in rows() if not (is_nginx and row[3] == "–")]

    def check(row):
        where, sent, answer, nginx = row
        wanted = nginx if is_nginx and nginx else answer
        fault = fault_of(port, sent, wanted, known, not is_nginx)
        return None if fault is None else f"{where}: {fault}, not: {wanted}"

    with ThreadPoolExecutor(16) as several:
        faults = [fault for fault in several.map(check, cases) if fault is not None]
    print(*faults, f"{len(cases) - len(faults)} of {len(cases)} as the page says", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
