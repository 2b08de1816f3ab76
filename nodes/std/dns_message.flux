// The messages of DNS, RFC 1035: `message` as they are in a datagram, `over_tcp` with the length before each. The
// sections of the RFC are named here. `flux message std.dns_message message` prints one. Names are read where they are: a
// pointer leads strictly backwards, and through at most 16 others.

// "4.1 Format"
type message = unit {
  %byteorder = big;
  %max_size = 65535;
  %origin = self; # pointers count from here

  # "4.1.1 Header section format"
  id : uint16;
  is_response : bits(1);
  opcode : bits(4);
  is_authoritative : bits(1);
  is_truncated : bits(1);
  wants_recursion : bits(1);
  recursion_available : bits(1);
  reserved : bits(3); # RFC 4035 3.1.6 and 3.2.2 use two of them
  response_code : bits(4);
  question_count : uint16;
  answer_count : uint16;
  authority_count : uint16;
  additional_count : uint16;

  questions : question[self.question_count];
  answers : resource[self.answer_count];
  authority : resource[self.authority_count];
  additional : resource[self.additional_count];
};

// "4.2.2 TCP usage"
type over_tcp = unit {
  length : uint16;
  content : message &length = self.length;
};

// "4.1.2 Question section format"
type question = unit {
  of : name;
  kind : uint16;
  class_of : uint16;
};

// "3.2.1 Format" and "4.1.3 Resource record format"
type resource = unit {
  of : name;
  kind : uint16;
  class_of : uint16;
  lifetime : uint32; # seconds
  length : uint16;
  content : resource_data(self.kind) &length = self.length;
};

// "3.3 Standard RRs", and RFC 3596 for AAAA; what is not known stays as it is.
type resource_data = unit (uint16 kind) {
  switch (kind) {
    1 -> address : uint32; # A
    2, 5, 12 -> target : name; # NS, CNAME, PTR
    6 -> authority : authority_data; # SOA
    15 -> exchange : exchange_data; # MX
    16 -> texts : text_data[] &eod &max_size = 4096;
    28 -> address6 : bytes &length = 16;
    * -> content : bytes &eod &max_size = 65535;
  }
};

// "3.3.13 SOA RDATA format"
type authority_data = unit {
  primary : name;
  mailbox : name;
  serial : uint32;
  refresh : uint32;
  retry : uint32;
  expire : uint32;
  minimum : uint32;
};

// "3.3.9 MX RDATA format"
type exchange_data = unit {
  preference : uint16;
  exchange : name;
};

// "3.3 <character-string>"
type text_data = unit {
  size : uint8;
  content : string &length = self.size;
};

// "3.1 Name space definitions": labels up to an empty one, or to a pointer.
type name = unit {
  labels : label[] &until = $$.size == 0 || $$.size >= 192 &max_size = 128;
};

// "4.1.4 Message compression": the two high bits say whether it is a label or a pointer.
type label = unit {
  size : uint8 &requires = $$ < 64 || $$ >= 192;
  if (self.size < 64) {
    text : string &length = self.size;
  } else {
    low : uint8;
    rest : name &parse_at = (self.size - 192) * 256 + self.low &max_depth = 16;
  }
};
