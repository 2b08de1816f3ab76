#!/usr/bin/env python3
"""Sends the requests of conformance.md to a server, each on a connection of its own, and compares the answers.

The server has the files that `conformance.py --files FOLDER` writes.
"""

import argparse
import os
import re
import socket
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conformance.md")
PATIENCE_S = 60
PROBE = b"GET /digits.txt HTTP/1.1\r\nHost: probe\r\n\r\n"
# The columns of other servers, in order.
PEERS = ["nginx", "h2o"]
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


class Row:
    """One of the page: where it is, what is sent, what is answered, and what each peer does."""

    def __init__(self, number, title, cells):
        self.number, self.where = number, f"{number}, {title}: {cells[0]}"
        self.sent, self.answer = cells[1].strip("`"), cells[2]
        self.of_peers = dict(zip(PEERS, cells[3:]))


def cells_of(line):
    """Of a row of a table; none of other lines. A bar is no part of what is sent."""
    found = re.fullmatch(r"\| (.*?) \| (`.*`) \| (.*?) " + r"\| ?(.*?) ?" * len(PEERS) + r"\|\n?", line)
    return found and found.groups()


def rows():
    """Each row of the page."""
    title = ""
    with open(PAGE, encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            if line.startswith("## "):
                title = line[3:].strip()
            if (cells := cells_of(line)) is not None:
                yield Row(number, title, cells)


def write_column(peer, texts):
    """Into the page: what the peer does, by the number of the line."""
    with open(PAGE, encoding="utf-8") as page:
        lines = page.readlines()
    for number, text in texts.items():
        cells = list(cells_of(lines[number - 1]))
        cells[3 + PEERS.index(peer)] = text
        lines[number - 1] = "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|\n"
    with open(PAGE, "w", encoding="utf-8") as page:
        page.writelines(lines)


class Connection:
    """One, and what came on it."""

    layer = None  # that of TLS

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.rest = b""
        if self.layer is not None:
            self.socket = self.layer.wrap_socket(self.socket)

    def more(self):
        """False at the end."""
        try:
            came = self.socket.recv(65536)
        except (ConnectionResetError, ssl.SSLError):
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
        status = re.fullmatch(r"HTTP/1\.[01] (\d{3}) .*", lines[0])[1]
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


def speak_tls():
    """All connections from now on, whatever the certificate."""
    Connection.layer = ssl.create_default_context()
    Connection.layer.check_hostname, Connection.layer.verify_mode = False, ssl.CERT_NONE


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


def done_by(port, sent, answer, known):
    """What a peer does, as the page says it: nothing where that is the same, `–` where it waits."""
    *responses, end = [part.strip() for part in repeated(answer).split(";")]
    wanted = [Wanted(text, known) for text in responses]
    connection = Connection(port)
    try:
        try:
            connection.socket.sendall(bytes_of(sent, known))
        except OSError:
            pass
        said = []
        for one in wanted:
            came = connection.response(one.is_head)
            if came is None:
                break
            said.append(came[0] + " head" * one.is_head)
        is_same = len(said) == len(wanted) and all(came[:3] in one.statuses for came, one in zip(said, wanted))
        is_open = connection.is_open()
        if is_same and is_open == (end == "open"):
            return ""
        return "; ".join([*said, "open" if is_open else "closed"])
    except (TimeoutError, TypeError, KeyError, ValueError):
        return "–"
    finally:
        connection.socket.close()


def learn(port, peer, known):
    """Writes the column of a peer."""
    cases = list(rows())
    with ThreadPoolExecutor(16) as several:
        said = several.map(lambda row: done_by(port, row.sent, row.answer, known), cases)
    write_column(peer, {row.number: text for row, text in zip(cases, said)})


def compare(port, peer, known, hasty_port):
    """The faults, and the number of cases. What ends with 408 is for the hasty server."""
    cases = [row for row in rows() if peer is None or row.of_peers[peer] != "–"]

    def check(row):
        wanted = peer is not None and row.of_peers[peer] or row.answer
        fault = fault_of(hasty_port if "408" in row.answer else port, row.sent, wanted, known, peer is None)
        return None if fault is None else f"{row.where}: {fault}, not: {wanted}"

    with ThreadPoolExecutor(16) as several:
        return [fault for fault in several.map(check, cases) if fault is not None], len(cases)


def options():
    """What is asked for."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("port", type=int, nargs="?", help="where the server listens")
    reader.add_argument("--files", metavar="FOLDER", help="write the files of the table, and nothing more")
    reader.add_argument("--peer", choices=PEERS, help="the server is this one: its column says what it answers")
    reader.add_argument("--write", action="store_true", help="write the column of the peer anew")
    reader.add_argument("--tls", action="store_true", help="all of it by TLS, whatever the certificate")
    reader.add_argument("--hasty", metavar="PORT", type=int,
                        help="another server with the files, of little patience: asked what clients do not end")
    asked = reader.parse_args()
    if asked.port is None and asked.files is None:
        reader.error("say the PORT, or --files")
    if asked.write and asked.peer is None:
        reader.error("--write needs --peer")
    return asked


def main():
    asked = options()
    if asked.files is not None:
        return write_files(asked.files)
    if asked.tls:
        speak_tls()
    first = Connection(asked.port)
    first.socket.sendall(PROBE)
    _, fields, _ = first.response(False)
    first.socket.close()
    known = {"etag": fields["etag"], "date": fields["last-modified"]}
    if asked.write:
        return learn(asked.port, asked.peer, known)
    faults, count = compare(asked.port, asked.peer, known, asked.hasty or asked.port)
    print(*faults, f"{count - len(faults)} of {count} as the page says", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
