// The records of FastCGI: the FastCGI Specification 1.0 of 1996, whose sections are named here. `flux message
// std.fastcgi record` prints them.

// "3.3 Records"
type record = unit {
  %byteorder = big;

  version : uint8 &requires = $$ == 1;
  kind : uint8;
  request_id : uint16;
  content_length : uint16;
  padding_length : uint8;
  reserved : uint8;
  content : content(self.kind) &length = self.content_length;
  padding : bytes &length = self.padding_length;
};

// "8. Types and constants": what each type of record has in it. The streams are bytes, and end with an empty record.
type content = unit (uint8 kind) {
  switch (kind) {
    1 -> begin : begin_request;
    3 -> end : end_request;
    4, 9, 10 -> pairs : pair[] &eod &max_size = 65535; # params, get values, and what comes of that
    5, 6, 7, 8 -> stream : bytes &eod &stream; # standard input, output and error; data
    11 -> unknown : unknown_type;
    * -> other : bytes &eod &max_size = 65535; # abort has nothing in it
  }
};

// "5.1 FCGI_BEGIN_REQUEST"
type begin_request = unit {
  %byteorder = big;

  role : uint16; # 1 responder, 2 authoriser, 3 filter
  flags : uint8; # 1 keeps the connection
  reserved : bytes &length = 5;
};

// "5.5 FCGI_END_REQUEST"
type end_request = unit {
  %byteorder = big;

  status : uint32; # of the application
  protocol_status : uint8;
  reserved : bytes &length = 3;
};

// "4.2 FCGI_UNKNOWN_TYPE"
type unknown_type = unit {
  kind : uint8;
  reserved : bytes &length = 7;
};

// "3.4 Name-value pairs": the sizes come first, each one byte up to 127, else four with the highest bit set.
type pair = unit {
  name_size : uint8;
  if (self.name_size < 128) {
    brief : named(self.name_size);
  } else {
    name_rest : uint24;
    lengthy : named((self.name_size - 128) * 0x1000000 + self.name_rest);
  }
};

type named = unit (uint32 name_size) {
  value_size : uint8;
  if (self.value_size < 128) {
    small : name_value(name_size, self.value_size);
  } else {
    value_rest : uint24;
    large : name_value(name_size, (self.value_size - 128) * 0x1000000 + self.value_rest);
  }
};

type name_value = unit (uint32 name_size, uint32 value_size) {
  name : string &length = name_size;
  value : string &length = value_size;
};
