// A DNS responder: answers from one zone, whose file is in the master-file format of RFC 1035, section 5.

use std.udp;
use std.tcp;
use std.dns_message;
include "zone.h";
link "ldns";

option listen : string = ":53";
// The file of the zone.
option zone : path = "example.zone";

// A query as it arrives. The flow parses it, because a malformed query gets a reply, too.
type arrived = unit {
  %max_size = 65535;
  id : uint16;
  is_response : bits(1);
  flags : bits(15);
  counts : uint64;
  sections : bytes &eod &max_size = 65535;
};
type arrived_over_tcp = unit {
  length : uint16;
  content : arrived &length = self.length;
};

source udp.Messages(listen, arrived) => Datagram;
source tcp.Messages(listen, arrived_over_tcp) => Stream;

typedef response (arrived received) { received.is_response == 1 };

// Two servers must not answer each other.
Datagram (udp.peer peer, arrived received) => ();
Datagram:[_, response] = ;
Datagram:[_, _] = Parse -> Answer -> Truncate -> udp.SendMessage;

Stream (flux::connection *connection, arrived_over_tcp framed) => ();
Stream = Unframe -> Connected;
Connected (flux::connection *connection, arrived received) => ();
Connected:[_, response] = tcp.Close;
Connected:[_, _] = Parse -> Answer -> Frame(answer: reply) -> tcp.Reply;

Unframe (arrived_over_tcp framed) => (arrived received) { received = framed.content; };
Frame (dns_message.message answer) => (dns_message.over_tcp reply) { reply = dns_message.over_tcp(content: answer); };

// A malformed query becomes its header alone. That asks no question, so it gets FORMERR.
Parse (arrived received) => (dns_message.message query);

// A query that gets no answer fails with the response code.
Answer (dns_message.message query) => (dns_message.message reply);
Answer = Asked -> Find -> Found;
handle error Answer => Refuse;

Asked (dns_message.message query) => (dns_message.question question) {
  if query.opcode != 0 { fail 4; }
  if length(query.questions) != 1 { fail 1; }
  let options = [for it in query.additional if it.kind == 41 : it];
  if length(options) > 1 || any([for it in options : length(bytes(it.of)) != 1]) { fail 1; }
  if any([for it in options : it.lifetime / 0x10000 % 0x100 != 0]) { fail 16; }
  question = query.questions[0];
  if question.class_of != 1 { fail 5; }
  if question.kind == 251 || question.kind == 252 { fail 5; } // IXFR and AXFR, transfers of the zone
};

// The zone's data for a name: the answers, or else the SOA that a negative answer has, and the response code.
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
  if code == 0 || code == 3 || code == 6 { is_known = 1; }
  reply = dns_message.message(id: query.id, is_response: 1, opcode: query.opcode, is_authoritative: is_known,
      wants_recursion: query.wants_recursion, response_code: uint8(code % 16), questions: query.questions,
      answers: answers, authority: authority, additional: Extended(query, code));
};

// RFC 6891: a query with a record OPT gets one back. It says how large a datagram may be, and has the rest of the code.
// RFC 3225: the flag DO comes back in it.
Extended (dns_message.message query, uint16 code) => (list<dns_message.resource> additional) {
  let options = [for it in query.additional if it.kind == 41 && length(bytes(it.of)) == 1 : it];
  additional = [];
  if length(options) != 0 {
    let flags = options[0].lifetime / 0x8000 % 2 * 0x8000;
    additional = [dns_message.resource(of: options[0].of, kind: 41, class_of: 1232,
          lifetime: uint32(code / 16) * 0x1000000 + flags, content: dns_message.resource_data(kind: 41))];
  }
};

// A reply that is too large for a datagram keeps its code. The client asks again over TCP.
Truncate (dns_message.message query, dns_message.message reply) => (dns_message.message reply) {
  let room = max([for it in query.additional if it.kind == 41 : uint64(it.class_of)] + [uint64(512)]);
  if length(bytes(reply)) > min([room, uint64(1232)]) {
    reply = dns_message.message(id: reply.id, is_response: 1, opcode: reply.opcode,
        is_authoritative: reply.is_authoritative, is_truncated: 1, wants_recursion: reply.wants_recursion,
        response_code: reply.response_code, questions: reply.questions, additional: reply.additional);
  }
};
