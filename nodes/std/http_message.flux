// The messages of HTTP/1.1, RFC 9112, whose sections are named here; those of RFC 9110 with its number. `flux message
// std.http_message request` prints requests. They are read strictly: lines end with CR and LF, no line is folded, and
// what two programs could understand in two ways, so that one is tricked, is refused (11.2 "Request Smuggling").

include "flux/message.hpp";
include "http_message.h";

// "2.1 Message Format": a request, its head and its body. A flow has it when its head is there; it pulls the body, or the
// contents of the chunks, while they come, and they are never all in memory. So the bound is that of the head.
type request = unit {
  %max_size = 64k;

  head : request_head;
  # One reply, which depends on the method: 1 is HEAD, 2 CONNECT; and what may be repeated, RFC 9110, 9.2.2.
  var replies : int8 &parse = 1;
  var asks : uint8 &parse = self.head.method == "HEAD" ? 1 : self.head.method == "CONNECT" ? 2 : 0;
  var may_repeat : bool
    &parse = self.head.method == "GET" || self.head.method == "HEAD" || self.head.method == "PUT"
      || self.head.method == "DELETE" || self.head.method == "OPTIONS";
  var ends_connection : bool &parse = self.head.closes;
  # RFC 9110, 7.8 and 9.3.6: a reply of status 101, or one to CONNECT, makes a tunnel of the connection.
  var may_end_messages : bool &parse = self.head.upgrades || self.head.method == "CONNECT";
  if (self.head.is_chunked) {
    chunked : chunked_body;
  } else {
    body : bytes &length = self.head.length &stream; # "6.3", 6 and 7
  }
};

// A response. What it is depends on what its request `asks` for: to HEAD, and to CONNECT of status 200 to 299, it has no
// body, whatever its head says ("6.3", 1 and 2).
type response = unit (uint8 asked) {
  %max_size = 16M;

  head : response_head;
  # RFC 9110, 15.2: another comes for the same request; but behind 101 comes what is no HTTP.
  var is_interim : bool &parse = self.head.code < 200;
  var opens_tunnel : bool &parse = asked == 2 && self.head.code >= 200 && self.head.code < 300;
  var ends_messages : bool &parse = self.head.code == 101 || self.opens_tunnel;
  var ends_connection : bool &parse = self.head.closes;
  if (self.head.has_body && asked != 1 && !self.opens_tunnel) {
    if (self.head.is_chunked) {
      chunked : chunked_body;
    } else if (self.head.has_length) {
      sized : bytes &length = self.head.length &stream; # "6.3", 6
    } else {
      rest : bytes &eod &stream; # "6.3", 8: up to where the connection ends
    }
  }
};

// "3 Request Line" and "5 Field Syntax".
type request_head = unit {
  %max_size = 64k;

  : token("(\r\n)?"); # "2.2": an empty line before it is ignored
  method : token("[!#$%&'*+.^_`|~0-9A-Za-z-]+") &max_size = 32;
  : " ";
  # "3.2": a path; a whole URI, for proxies; HOST:PORT for CONNECT alone, which has nothing else; * for OPTIONS alone
  target : token("[!-~]+") &max_size = 8k
    &requires = (self.method == "CONNECT") != (starts_with($$, "/") || contains($$, "://") || $$ == "*")
    &requires = $$ != "*" || self.method == "OPTIONS";
  : " HTTP/1.";
  minor_version : token("[0-9]"); # of 1.2 and above what 1.1 has is read: RFC 9110, 2.5
  : "\r\n";

  var has_host : bool &parse = false;
  var has_length : bool &parse = false;
  var is_chunked : bool &parse = false;
  var upgrades : bool &parse = false;
  var has_close : bool &parse = false;
  var has_keep_alive : bool &parse = false;
  var length : uint64 &parse = 0;
  fields : field[] &until = "\r\n" &max_size = 100
    &requires = !$$.is_host || !self.has_host # "3.2"
    &requires = !$$.is_length || !self.has_length && !self.is_chunked # "6.3", 3 and 5
    &requires = !$$.is_coding || !self.has_length && !self.is_chunked && self.minor_version != "0" # "6.1", "6.3", 3
    &update = self.has_host = self.has_host || $$.is_host
    &update = self.has_length = self.has_length || $$.is_length
    &update = self.is_chunked = self.is_chunked || $$.is_coding
    &update = self.upgrades = self.upgrades || $$.upgrades
    &update = self.has_close = self.has_close || $$.closes
    &update = self.has_keep_alive = self.has_keep_alive || $$.keeps
    &update = self.length = self.length + $$.length;
  # "9.3": the client sends nothing behind it
  var closes : bool &parse = self.has_close || self.minor_version == "0" && !self.has_keep_alive;
  var names_its_host : bool
    &parse = self.has_host || self.minor_version == "0" # "3.2": HTTP/1.1 has a Host
    &requires = $$;
};

// "4 Status Line" and "5 Field Syntax".
type response_head = unit {
  %max_size = 64k;

  : "HTTP/1.";
  minor_version : token("[0-9]");
  : " ";
  status : token("[1-9][0-9][0-9]"); # RFC 9110, 15: what is above 599 is invalid, but in use
  switch {
    -> {
      : " ";
      reason : token("[\t -~\x80-\xff]*") &max_size = 1k;
    }
    -> { } # "4" wants the space at least, but not all servers give it
  }
  : "\r\n";

  var has_length : bool &parse = false;
  var is_chunked : bool &parse = false;
  var length : uint64 &parse = 0;
  var closes : bool &parse = self.minor_version == "0"; # "9.3"; whether HTTP/1.0 may keep it is of no account
  fields : field[] &until = "\r\n" &max_size = 100
    &requires = !$$.is_length || !self.has_length && !self.is_chunked # "6.3", 3 and 5
    &requires = !$$.is_coding || !self.has_length && !self.is_chunked && self.minor_version != "0" # "6.1", "6.3", 3
    &update = self.has_length = self.has_length || $$.is_length
    &update = self.is_chunked = self.is_chunked || $$.is_coding
    &update = self.length = self.length + $$.length
    &update = self.closes = self.closes || $$.closes;
  var code : uint16 &parse = uint16(self.status);
  var has_body : bool &parse = self.code >= 200 && self.code != 204 && self.code != 304; # "6.3", 1
};

// "5 Field Syntax", RFC 9110, 5.1 and 5.5: a name directly before the colon, a value without control characters.
type field = unit {
  name : token("[!#$%&'*+.^_`|~0-9A-Za-z-]+") &max_size = 256;
  : ":";
  value : token("[\t -~\x80-\xff]*") &max_size = 16k &convert = trim($$);
  : "\r\n";

  var is_host : bool &parse = lower(self.name) == "host";
  var is_length : bool &parse = lower(self.name) == "content-length";
  var is_coding : bool &parse = lower(self.name) == "transfer-encoding";
  var is_connection : bool &parse = lower(self.name) == "connection";
  var closes : bool &parse = self.is_connection && contains(lower(self.value), "close"); # "9.6"
  var upgrades : bool &parse = self.is_connection && contains(lower(self.value), "upgrade"); # RFC 9110, 7.8
  var keeps : bool &parse = self.is_connection && contains(lower(self.value), "keep-alive");
  var length : uint64 &parse = 0;
  if (self.is_length) {
    var given : uint64 &parse = uint64(self.value) &update = self.length = $$; # RFC 9110, 8.6: digits, no list
  }
  if (self.is_coding) {
    var coding : string &parse = lower(self.value) &requires = $$ == "chunked"; # "6.1": no other is understood
  }
};

// "7.1 Chunked Transfer Coding": chunks up to an empty one, and fields after it, the trailers. They leave with a message
// that is forwarded; `Trailers` gives them once the chunks have been pulled.
type chunked_body = unit {
  %max_size = 16M;

  chunks : chunk[] &until = $$.size == 0 &max_size = 1G;
  trailers : field[] &until = "\r\n" &max_size = 100
    &requires = !$$.is_length && !$$.is_coding && !$$.is_host; # "7.1.2", RFC 9110, 6.5.1
};

// The same fields by themselves.
type trailer_section = unit {
  %max_size = 64k;

  fields : field[] &until = "\r\n" &max_size = 100
    &requires = !$$.is_length && !$$.is_coding && !$$.is_host;
};

// The fields behind the chunks of a request or of a response, whose chunks have all been pulled: `Trailers(message:
// reply)`. None where it has no chunks, or no such fields. Fails with EBUSY where there is more to pull.
Trailers (flux::message message) => (list<field> trailers);

type chunk = unit {
  size : uint64 &digits = 16;
  : token("[ \t]*") &max_size = 16; # some servers put it there, though it belongs before an extension alone
  extensions : extension[] &until = "\r\n" &max_size = 16;
  if (self.size > 0) {
    content : bytes &length = self.size &stream;
    : "\r\n";
  }
};

// "7.1.1 Chunk Extensions": a name, and perhaps a value, which may be quoted.
type extension = unit {
  : ";";
  : token("[ \t]*") &max_size = 16;
  name : token("[!#$%&'*+.^_`|~0-9A-Za-z-]+") &max_size = 256;
  : token("[ \t]*") &max_size = 16;
  switch {
    -> {
      : "=";
      : token("[ \t]*") &max_size = 16;
      value : token("[!#$%&'*+.^_`|~0-9A-Za-z-]+|\"([\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*\"") &max_size = 256;
      : token("[ \t]*") &max_size = 16;
    }
    -> { }
  }
};
