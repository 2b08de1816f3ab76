// The messages of memcached, in binary: requests, responses, and what their extras mean. `flux message std.memcached
// command` prints them. The format is that of the BinaryProtocolRevamped page of memcached's documentation and of
// `protocol_binary.h` in its sources; the names of the fields are those of the FLICK paper, Listing 2.

// A request or a response: both have the same header, and `magic_code` tells them apart.
type command = unit {
  %byteorder = big;
  %max_size = 2M; # memcached's own limit of a value is 1 MiB

  # "Packet structure": the header of 24 bytes
  magic_code : uint8 &requires = $$ == 0x80 || $$ == 0x81;
  opcode : uint8;
  key_len : uint16 &requires = $$ <= 250; # KEY_MAX_LENGTH
  extras_len : uint8;
  data_type : uint8; # reserved for future use
  status_or_v_bucket : uint16; # a response's status, a request's virtual bucket
  total_len : uint32;
  opaque : uint32;
  cas : uint64;

  var value_len : uint32
    &parse = self.total_len - (self.extras_len + self.key_len)
    &serialize = self.total_len = self.key_len + self.extras_len + $$;

  # "Command opcodes": what requests say in their extras
  if (self.magic_code == 0x80) {
    switch (self.opcode) {
      0x01, 0x02, 0x03, 0x11, 0x12, 0x13 -> store : store_extras &length = self.extras_len;
      0x05, 0x06, 0x15, 0x16 -> change : change_extras &length = self.extras_len;
      0x1c, 0x1d, 0x1e -> touch : touch_extras &length = self.extras_len;
      * -> extras : bytes &length = self.extras_len;
    }
  } else {
    response_extras : bytes &length = self.extras_len; # the flags of a get, else none
  }
  key : string &length = self.key_len;
  value : bytes &length = self.value_len;
};

// "Set, Add, Replace"
type store_extras = unit {
  flags : uint32;
  expiration : uint32;
};

// "Increment, Decrement"
type change_extras = unit {
  amount : uint64;
  initial : uint64;
  expiration : uint32;
};

// "Touch" and "Get and touch"
type touch_extras = unit {
  expiration : uint32;
};
