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
// FCGI_PARAMS is also a stream: a pair may begin in one record and end in the next.
type content = unit (uint8 kind) {
  switch (kind) {
    1 -> begin : begin_request;
    3 -> end : end_request;
    4, 5, 6, 7, 8 -> stream : bytes &eod &max_size = 65535; # params; standard input, output and error; data
    9, 10 -> pairs : pair[] &eod &max_size = 65535; # get values, and the result
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

// "5.2 FCGI_PARAMS": the pairs of a request. A reader joins the contents of the request's FCGI_PARAMS records. Then it
// parses the joined bytes as this message.
type params = unit {
  pairs : pair[] &eod &max_size = 64k;
};

// "3.4 Name-value pairs".
type pair = unit {
  name_size : size;
  value_size : size;
  name : string &length = self.name_size.value;
  value : string &length = self.value_size.value;
};

// One byte up to 127, else four, of which the highest bit is set.
type size = unit {
  %byteorder = big;

  first : uint8;
  var value : uint32 &parse = self.first;
  if (self.first >= 128) {
    rest : uint24 &update = self.value = (self.first - 128) * 0x1000000 + $$;
  }
};
