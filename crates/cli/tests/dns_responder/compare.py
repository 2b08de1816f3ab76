"""Asks two servers of DNS the same and compares what they say: compare.py PORT OTHER_PORT, both on 127.0.0.1.

All names and types of the example's zone, and those beside it, over UDP with and without EDNS and over TCP. What is
compared is what the answers mean: their code, their flags, their sections as sets. Then what only the first is asked:
all types (RFC 8482), and what is no query.
"""

import itertools
import socket
import sys

import dns.flags
import dns.message
import dns.opcode
import dns.query
import dns.rcode
import dns.rdatatype

LOCAL = "127.0.0.1"
NAMES = [
    "example.org", "EXAMPLE.org", "ns1.example.org", "mail.example.org", "www.example.org", "WwW.eXample.ORG",
    "web.example.org", "out.example.org", "lost.example.org", "nowhere.example.org", "a.b.c.example.org",
    "b.c.example.org", "c.example.org", "x.c.example.org", "wild.example.org", "any.wild.example.org",
    "deep.any.wild.example.org", "_sip._tcp.example.org", "large.example.org", "example.com", "org", ".",
    "notexample.org",
]
TYPES = ["A", "AAAA", "MX", "TXT", "NS", "SOA", "CNAME", "SRV", "PTR", "HINFO"]


def ask(port, query, tcp):
    """What the server at this port says."""
    function = dns.query.tcp if tcp else dns.query.udp
    return function(query, LOCAL, timeout=60, port=port)


def meaning(answer):
    """What is to be the same of two answers."""
    section = lambda rrsets: sorted(rrset.to_text().lower() for rrset in rrsets)
    flags = dns.flags.to_text(answer.flags)
    truncated = "TC" in flags
    return (answer.rcode(), flags, answer.edns, section(answer.question),
            None if truncated else section(answer.answer), None if truncated else section(answer.authority))


def compare(ours, theirs):
    count = 0
    for name, kind, (edns, tcp) in itertools.product(NAMES, TYPES, [(-1, False), (0, False), (0, True)]):
        query = dns.message.make_query(name, kind, use_edns=edns, payload=4096)
        query.flags &= ~dns.flags.RD if count % 2 else 0xFFFF
        given, wanted = ask(ours, query, tcp), ask(theirs, query, tcp)
        if meaning(given) != meaning(wanted):
            sys.exit(f"{name} {kind}, tcp {tcp}, edns {edns}\nours:\n{given}\n\ntheirs:\n{wanted}")
        count += 1
    return count


def expect(what, condition):
    if not condition:
        sys.exit(what)


def only_ours(port):
    answer = ask(port, dns.message.make_query("web.example.org", "ANY"), False)
    expect("all types: RFC 8482", answer.answer[0].to_text().endswith('HINFO "RFC8482" ""'))
    query = dns.message.make_query("web.example.org", "A", use_edns=0)
    query.ednsflags |= 1 << 16
    expect("a later version of EDNS", ask(port, query, False).rcode() == dns.rcode.BADVERS)
    query = dns.message.make_query("web.example.org", "A")
    query.set_opcode(dns.opcode.NOTIFY)
    expect("another opcode", ask(port, query, False).rcode() == dns.rcode.NOTIMP)
    query = dns.message.make_query("web.example.org", "A", rdclass="CH")
    expect("another class", ask(port, query, False).rcode() == dns.rcode.REFUSED)
    # What is no message, and what is an answer, are answered by nothing; the next query is.
    whole = dns.message.make_query("web.example.org", "A").to_wire()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.settimeout(60)
        own.connect((LOCAL, port))
        for size in range(len(whole)):
            own.send(whole[:size])
        own.send(bytes([whole[0], whole[1], 0x80 | whole[2]]) + whole[3:])
        own.send(whole + b"more")
        # A name that points to itself, and one that points forwards.
        own.send(whole[:12] + b"\xc0\x0c\0\1\0\1")
        own.send(whole[:12] + b"\xc0\x10\0\1\0\1\0")
        own.send(whole)
        answer = dns.message.from_wire(own.recv(4096))
        expect("only a query is answered", len(answer.answer[0]) == 2)
    # Queries that come together over TCP, and byte by byte.
    framed = len(whole).to_bytes(2, "big") + whole
    for step in [1, 7, 1000]:
        with socket.create_connection((LOCAL, port)) as own:
            own.settimeout(60)
            for at in range(0, 3 * len(framed), step):
                own.sendall((3 * framed)[at:at + step])
            for _ in range(3):
                size = int.from_bytes(own.recv(2, socket.MSG_WAITALL), "big")
                answer = dns.message.from_wire(own.recv(size, socket.MSG_WAITALL))
                expect("over TCP", len(answer.answer[0]) == 2)


def main():
    ours, theirs = map(int, sys.argv[1:])
    count = compare(ours, theirs)
    only_ours(ours)
    print(f"{count} answers are the same")


if __name__ == "__main__":
    main()
