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
  key_len : uint16;
  extras_len : uint8;
  data_type : uint8; # reserved for future use
  status_or_v_bucket : uint16; # a response's status, a request's virtual bucket
  total_len : uint32;
  opaque : uint32;
  cas : uint64;

  var value_len : uint32
    &parse = self.total_len - (self.extras_len + self.key_len)
    &serialize = self.total_len = self.key_len + self.extras_len + $$;

  # "Command opcodes": what requests say in their extras. If the extras have a wrong size, these fields are unset.
  if (self.magic_code == 0x80) {
    switch (self.opcode) {
      0x01, 0x02, 0x03, 0x11, 0x12, 0x13 -> {
        if (self.extras_len == 8) {
          store : store_extras &length = self.extras_len;
        } else {
          : bytes &length = self.extras_len;
        }
      }
      0x05, 0x06, 0x15, 0x16 -> {
        if (self.extras_len == 20) {
          change : change_extras &length = self.extras_len;
        } else {
          : bytes &length = self.extras_len;
        }
      }
      0x1c, 0x1d, 0x1e, 0x23, 0x24 -> {
        if (self.extras_len == 4) {
          touch : touch_extras &length = self.extras_len;
        } else {
          : bytes &length = self.extras_len;
        }
      }
      * -> extras : bytes &length = self.extras_len;
    }
  } else {
    response_extras : bytes &length = self.extras_len; # the flags of a get, else none
  }
  key : string &length = self.key_len;
  value : bytes &length = self.value_len;

  # What a request has for replies: one; of quiet ones, of statistics, and of what leaves the connection in another state
  # than it was in it cannot be told. What only reads may be asked twice.
  var replies : int8
    &parse = self.opcode <= 0x0f && self.opcode != 0x07 && self.opcode != 0x09 && self.opcode != 0x0d
      || self.opcode == 0x1b || self.opcode == 0x1c || self.opcode == 0x1d || self.opcode == 0x23 ? 1 : -1;
  var may_repeat : bool &parse = self.opcode == 0x00 || self.opcode == 0x0c || self.opcode == 0x0a || self.opcode == 0x0b;
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

// What the value of the response to an increment or a decrement is.
type counter = unit {
  number : uint64;
};

// "Command opcodes": requests by what they ask for, the quiet ones with the others.
typedef get (command request) {
  request.opcode == 0x00 || request.opcode == 0x0c || request.opcode == 0x09 || request.opcode == 0x0d
};
typedef set (command request) { request.opcode == 0x01 || request.opcode == 0x11 };
typedef add (command request) { request.opcode == 0x02 || request.opcode == 0x12 };
typedef replace (command request) { request.opcode == 0x03 || request.opcode == 0x13 };
typedef remove (command request) { request.opcode == 0x04 || request.opcode == 0x14 };
typedef increment (command request) { request.opcode == 0x05 || request.opcode == 0x15 };
typedef decrement (command request) { request.opcode == 0x06 || request.opcode == 0x16 };
typedef quit (command request) { request.opcode == 0x07 || request.opcode == 0x17 };
typedef flush (command request) { request.opcode == 0x08 || request.opcode == 0x18 };
typedef no_operation (command request) { request.opcode == 0x0a };
typedef version (command request) { request.opcode == 0x0b };
typedef append (command request) { request.opcode == 0x0e || request.opcode == 0x19 };
typedef prepend (command request) { request.opcode == 0x0f || request.opcode == 0x1a };
typedef statistics (command request) { request.opcode == 0x10 };
typedef touch (command request) { request.opcode == 0x1c };
typedef get_and_touch (command request) {
  request.opcode == 0x1d || request.opcode == 0x1e || request.opcode == 0x23 || request.opcode == 0x24
};

// A get, with or without a touch, whose response has the key.
typedef with_key (command request) {
  request.opcode == 0x0c || request.opcode == 0x0d || request.opcode == 0x23 || request.opcode == 0x24
};

// A request whose key, extras or value is wrong for its command. memcached replies with status 0x04, even to a quiet
// request. Then memcached closes the connection.
typedef invalid (command request) {
  let key = request.key_len;
  let extras = request.extras_len;
  let behind_extras = request.total_len - extras;
  let is_wrong = false;
  if get(request) || remove(request) {
    is_wrong = key == 0 || request.total_len != key;
  } else if has(request.store) {
    is_wrong = key == 0;
  } else if has(request.change) || has(request.touch) {
    is_wrong = key == 0 || behind_extras != key;
  } else if append(request) || prepend(request) {
    is_wrong = key == 0 || extras != 0;
  } else if no_operation(request) || version(request) || quit(request) {
    is_wrong = request.total_len != 0;
  } else if flush(request) {
    is_wrong = behind_extras != 0 || extras != 0 && extras != 4;
  } else if statistics(request) {
    is_wrong = extras != 0;
  } else {
    is_wrong = request.opcode <= 0x1a || touch(request) || get_and_touch(request); // the extras have a wrong size
  }
  is_wrong || key > 250
};

// A response that a client does not want: a quiet get asks for no miss, other quiet commands for no success.
typedef unwanted (command response) {
  let status : uint16 = 0x00;
  if response.opcode == 0x09 || response.opcode == 0x0d || response.opcode == 0x1e || response.opcode == 0x24 {
    status = 0x01;
  }
  response.status_or_v_bucket == status && (status == 0x01 || 0x11 <= response.opcode && response.opcode <= 0x1a)
};

// The response to a request that succeeded, without a value: with the version of the item, or 0.
Success (command request, uint64 version) => (command response) {
  response = command(magic_code: 0x81, opcode: request.opcode, opaque: request.opaque, cas: version);
};

// The response to a request that failed, with the text that memcached sends.
Failure (command request, uint16 status) => (command response) {
  let key = "";
  let value = Reason(status);
  if status == 0x01 && with_key(request) {
    key = request.key;
    value = "";
  }
  response = command(magic_code: 0x81, opcode: request.opcode, status_or_v_bucket: status, opaque: request.opaque,
      key: key, value: bytes(value));
};

// "Response Status"
Reason (uint16 status) => (text reason) {
  reason = "Internal error";
  if status == 0x01 { reason = "Not found"; }
  if status == 0x02 { reason = "Data exists for key."; }
  if status == 0x03 { reason = "Too large."; }
  if status == 0x04 { reason = "Invalid arguments"; }
  if status == 0x05 { reason = "Not stored."; }
  if status == 0x06 { reason = "Non-numeric server-side value for incr or decr"; }
  if status == 0x81 { reason = "Unknown command"; }
  if status == 0x82 { reason = "Out of memory"; }
};
