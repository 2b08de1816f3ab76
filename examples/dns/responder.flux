// A DNS responder: answers from one zone, whose file is in the master-file format of RFC 1035, section 5.

use std.udp;
use std.tcp;
use std.dns_message;
include "zone.h";
link "ldns";

option listen : string = ":53";
// The file of the zone.
option zone : path = "example.zone";

source udp.Messages(listen, dns_message.message) => Datagram;
source tcp.Messages(listen, dns_message.over_tcp) => Stream;

typedef response (dns_message.message query) { query.is_response == 1 };

// Two servers must not answer each other.
Datagram (udp.peer peer, dns_message.message query) => ();
Datagram:[_, response] = ;
Datagram:[_, _] = Answer -> Truncate -> udp.SendMessage;

Stream (flux::connection *connection, dns_message.over_tcp framed) => ();
Stream = Unframe -> Connected;
Connected (flux::connection *connection, dns_message.message query) => ();
Connected:[_, response] = tcp.Close;
Connected:[_, _] = Answer -> Frame(answer: reply) -> tcp.Reply;

Unframe (dns_message.over_tcp framed) => (dns_message.message query) { query = framed.content; };
Frame (dns_message.message answer) => (dns_message.over_tcp reply) { reply = dns_message.over_tcp(content: answer); };

// What cannot be answered fails with the response code.
Answer (dns_message.message query) => (dns_message.message reply);
Answer = Asked -> Find -> Found;
handle error Answer => Refuse;

Asked (dns_message.message query) => (dns_message.question question) {
  if query.opcode != 0 { fail 4; }
  if length(query.questions) != 1 { fail 1; }
  if any([for it in query.additional if it.kind == 41 : it.lifetime / 0x10000 % 0x100 != 0]) { fail 16; }
  question = query.questions[0];
  if question.class_of != 1 { fail 5; }
};

// What the zone has of a name: the answers, or else what says that there are none, and the code that says why.
Find (dns_message.question question)
  => (uint16 code, list<dns_message.resource> answers, list<dns_message.resource> authority);

Found (dns_message.message query, uint16 code, list<dns_message.resource> answers, list<dns_message.resource> authority)
  => (dns_message.message reply) {
  reply = Reply(query, code, answers, authority);
};

Refuse (dns_message.message query, int error) => (dns_message.message reply) {
  let code : uint16 = 2; // what is wrong is here
  if 0 < error && error <= 16 { code = uint16(error); }
  reply = Reply(query, code, [], []);
};

Reply (dns_message.message query, uint16 code, list<dns_message.resource> answers, list<dns_message.resource> authority)
  => (dns_message.message reply) {
  let is_known = uint8(0);
  if code == 0 || code == 3 { is_known = 1; }
  reply = dns_message.message(id: query.id, is_response: 1, opcode: query.opcode, is_authoritative: is_known,
      wants_recursion: query.wants_recursion, response_code: uint8(code % 16), questions: query.questions,
      answers: answers, authority: authority, additional: Extended(query, code));
};

// RFC 6891: who says in a resource OPT how large a datagram may be is told the same, and the rest of the code.
Extended (dns_message.message query, uint16 code) => (list<dns_message.resource> additional) {
  additional = [for it in query.additional if it.kind == 41 : dns_message.resource(of: it.of, kind: 41, class_of: 1232,
        lifetime: uint32(code / 16) * 0x1000000, content: dns_message.resource_data(kind: 41))];
};

// What is too large for a datagram is asked for again over TCP.
Truncate (dns_message.message query, dns_message.message reply) => (dns_message.message reply) {
  let room = max([for it in query.additional if it.kind == 41 : uint64(it.class_of)] + [uint64(512)]);
  if length(bytes(reply)) > min([room, uint64(1232)]) {
    reply = dns_message.message(id: reply.id, is_response: 1, opcode: reply.opcode, is_authoritative: 1,
        is_truncated: 1, wants_recursion: reply.wants_recursion, questions: reply.questions,
        additional: reply.additional);
  }
};
