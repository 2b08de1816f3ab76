"""Asks two servers of DNS the same and compares what they say: compare.py PORT OTHER_PORT, both on 127.0.0.1.

All names and types of the example's zone, and those beside it, over UDP with and without EDNS and over TCP. What is
compared is what the answers mean: their code, their flags, their sections as sets. Then some queries are for the first
server alone: all types (RFC 8482), transfers of the zone, and malformed queries.
"""

import itertools
import socket
import struct
import sys

import dns.flags
import dns.message
import dns.opcode
import dns.query
import dns.rcode
import dns.rdatatype

LOCAL = "127.0.0.1"
# Names below the DNAME "far": the answer to the first is too large for a datagram without EDNS, and the DNAME makes a
# name of more than 255 bytes of the second.
LONG, TOO_LONG = (".".join(3 * [63 * "x"] + [last * "x", "far.example.org"]) for last in (30, 45))
NAMES = [
    "example.org", "EXAMPLE.org", "ns1.example.org", "mail.example.org", "www.example.org", "WwW.eXample.ORG",
    "web.example.org", "out.example.org", "lost.example.org", "nowhere.example.org", "a.b.c.example.org",
    "b.c.example.org", "c.example.org", "x.c.example.org", "wild.example.org", "any.wild.example.org",
    "deep.any.wild.example.org", "_sip._tcp.example.org", "large.example.org", "example.com", "org", ".",
    "notexample.org", "moved.example.org", "any.MOVED.example.org", "deep.any.moved.example.org", "x.away.example.org",
    "x.far.example.org", LONG, TOO_LONG, "x.there.example.org", "over.example.org",
]
TYPES = ["A", "AAAA", "MX", "TXT", "NS", "SOA", "CNAME", "SRV", "PTR", "HINFO", "DNAME"]


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


def all_types(port):
    for name, rcode, answers in [
        ("web.example.org", dns.rcode.NOERROR, ['web.example.org. 3600 IN HINFO "RFC8482" ""']),
        ("any.wild.example.org", dns.rcode.NOERROR, ['any.wild.example.org. 3600 IN HINFO "RFC8482" ""']),
        ("www.example.org", dns.rcode.NOERROR, ["www.example.org. 3600 IN CNAME web.example.org."]),
        ("x.moved.example.org", dns.rcode.NOERROR, ["moved.example.org. 3600 IN DNAME wild.example.org.",
                                                    "x.moved.example.org. 3600 IN CNAME x.wild.example.org."]),
        ("b.c.example.org", dns.rcode.NOERROR, []),
        ("nowhere.example.org", dns.rcode.NXDOMAIN, []),
    ]:
        answer = ask(port, dns.message.make_query(name, "ANY"), False)
        expect(f"{name} ANY: {answer}", answer.rcode() == rcode and [x.to_text() for x in answer.answer] == answers)
        expect(f"{name} ANY: {answer}", len(answer.authority) == (0 if answers else 1))


def refusals(port):
    query = dns.message.make_query("web.example.org", "A", use_edns=0)
    query.ednsflags |= 1 << 16
    expect("a later version of EDNS", ask(port, query, False).rcode() == dns.rcode.BADVERS)
    query = dns.message.make_query("web.example.org", "A")
    query.set_opcode(dns.opcode.NOTIFY)
    expect("another opcode", ask(port, query, False).rcode() == dns.rcode.NOTIMP)
    query = dns.message.make_query("web.example.org", "A", rdclass="CH")
    expect("another class", ask(port, query, False).rcode() == dns.rcode.REFUSED)
    for kind, tcp in itertools.product(["AXFR", "IXFR"], [False, True]):
        query = dns.message.make_query("example.org", kind)
        expect(f"{kind}, tcp {tcp}", ask(port, query, tcp).rcode() == dns.rcode.REFUSED)


def option(owner=b"\0", flags=0, content=b""):
    """A record OPT."""
    return owner + struct.pack("!HHIH", 41, 1232, flags, len(content)) + content


def malformed(whole):
    """Queries that get FORMERR and nothing else: each a header and what is wrong after it."""
    edns = whole[:11] + b"\1" + whole[12:]
    named = lambda name: whole[:12] + name + b"\0\1\0\1"
    return [whole[:size] for size in range(12, len(whole))] + [
        whole + b"more",
        # A name that points to itself, one that points forwards, and one that points into the header.
        named(b"\xc0\x0c"), named(b"\xc0\x10") + b"\0", named(b"\xc0\x04"),
        named(4 * (b"\x3f" + 63 * b"x") + b"\0"), named(b"\x40" + 64 * b"x" + b"\0"),
        # Options that are longer than OPT, and OPT that is longer than the query.
        edns + option(content=b"\0\x0a\0\x08abc"), edns + option(content=b"\0\x0a\0"), edns + option()[:-1],
    ]


def malformed_queries(port):
    whole = dns.message.make_query("web.example.org", "A").to_wire()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.settimeout(60)
        own.connect((LOCAL, port))
        for query in malformed(whole):
            own.send(query)
            said = own.recv(4096)
            expect(f"{query}: {said}", said == whole[:2] + b"\x81\x01" + bytes(8))
        # A header that is cut, and an answer, get no reply. The next query does.
        for size in range(12):
            own.send(whole[:size])
        own.send(bytes([whole[0], whole[1], 0x80 | whole[2]]) + whole[3:])
        own.send(bytes([whole[0], whole[1], 0x80 | whole[2]]) + whole[3:20])
        own.send(whole)
        answer = dns.message.from_wire(own.recv(4096))
        expect("only a query is answered", len(answer.answer[0]) == 2)
        # RFC 6891: one OPT, of the root. RFC 3225: the flag DO comes back.
        for count, options, rcode, flags in [
            (1, option(flags=0x8000), dns.rcode.NOERROR, dns.flags.DO),
            (1, option(flags=0x4000), dns.rcode.NOERROR, 0),
            (1, option(content=b"\0\x0a\0\3abc\0\x0b\0\0"), dns.rcode.NOERROR, 0),
            (2, option(flags=0x8000) + option(), dns.rcode.FORMERR, dns.flags.DO),
            (1, option(owner=b"\1x\0"), dns.rcode.FORMERR, None),
        ]:
            own.send(whole[:11] + bytes([count]) + whole[12:] + options)
            answer = dns.message.from_wire(own.recv(4096))
            expect(f"{options}: {answer}", answer.rcode() == rcode and len(answer.question) == 1)
            expect(f"{options}: {answer}", flags == (answer.ednsflags if answer.edns == 0 else None))


def over_tcp(port):
    whole = dns.message.make_query("web.example.org", "A").to_wire()
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
    # A malformed query does not end the connection.
    with socket.create_connection((LOCAL, port)) as own:
        own.settimeout(60)
        own.sendall(b"\0\x14" + whole[:20] + framed)
        expect("FORMERR", own.recv(14, socket.MSG_WAITALL) == b"\0\x0c" + whole[:2] + b"\x81\x01" + bytes(8))
        size = int.from_bytes(own.recv(2, socket.MSG_WAITALL), "big")
        expect("after it", len(dns.message.from_wire(own.recv(size, socket.MSG_WAITALL)).answer[0]) == 2)


def main():
    ours, theirs = map(int, sys.argv[1:])
    count = compare(ours, theirs)
    for only_ours in [all_types, refusals, malformed_queries, over_tcp]:
        only_ours(ours)
    print(f"{count} answers are the same")


if __name__ == "__main__":
    main()
