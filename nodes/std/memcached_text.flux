// The messages of memcached, as text: the file protocol.txt of its sources, whose sections are named here. `flux
// message std.memcached_text request` prints requests.

// A command, with the data that comes after it.
type request = unit {
  %max_size = 2M; # memcached's own limit of a value is 1 MiB

  verb : token("[a-z_]+") &max_size = 32;
  switch (self.verb) {
    "set", "add", "replace", "append", "prepend" -> store : storage(false);
    "cas" -> compare : storage(true);
    "get", "gets" -> get : key[] &until = "\r\n" &max_size = 10k;
    "gat", "gats" -> gat : touching_retrieval;
    "delete" -> removal : deletion;
    "incr", "decr" -> change : change;
    "touch" -> touch : touch;
    "ms" -> meta_set : meta_storage;
    "mg", "md", "ma", "me" -> meta : meta_command;
    * -> { # "Statistics", "flush_all", "version", "quit", "mn" …
      arguments : token("[ -~\x80-\xff]*") &max_size = 2k &convert = trim($$);
      : "\r\n";
    }
  }
};

// The same as proxies send it on: with the word behind the verb, which is the key of most, and what its replies are. So
// is a line that is no command, for a server to say what is wrong with it. It is read as servers (1.6) read it: words are
// what spaces part, whatever else is in them, and a line ends at a 0 byte. Where it is not sure what they make of one it is
// no command here, as that decides where the next begins: very long numbers, a CR within a line. A line has
// at most 2048 bytes, as servers may disconnect who sends more; but not `get` and `gets`.
type command = unit {
  %max_size = 2M;

  indent : token(" *") &max_size = 2k;
  verb : token("[^ \r\n\0]*") &max_size = 2k;
  gap : token(" *") &max_size = 2k;
  first : token("[^ \r\n\0]*") &max_size = 64k;
  var head : uint64 &parse = length(self.indent) + length(self.verb) + length(self.gap) + length(self.first);
  # One reply, in the order of the requests ("noreply": none). Of -1 there is one or none, so that `mn` behind it has a
  # reply that says which; of less it cannot be told.
  var replies : int8 &parse = 1;
  var in_order : bool &parse = true;
  var may_repeat : bool &parse = self.verb == "get" || self.verb == "gets";
  var ends_connection : bool &parse = false;
  # Of what servers retrieve, whether other keys follow (of `gat`, any), or one that is too long: then none is.
  var has_keys : bool &parse = false;
  var has_long_key : bool &parse = false;
  var is_for_all : bool &parse = false;
  switch (self.verb) {
    "get", "gets", "bget", "gat", "gats" -> { # behind the first key, or the expiration
      ending : token("(\r|\0[^\n]*)?") &max_size = 64k;
      var has_ended : bool &parse = length(self.ending) > 0;
      var size : uint64 &parse = self.head + length(self.ending);
      keys : spaced[] &until = "\n" &max_size = 100k &requires = !self.has_ended
        &update = self.has_ended = length($$.ending) > 0
        &update = self.has_keys = self.has_keys || length($$.key) > 0
        &update = self.has_long_key = self.has_long_key || length($$.key) > 250
        &update = self.size = self.size + $$.size;
      if (length(self.first) > 250 && !starts_with(self.verb, "gat")) {
        var is_long : bool &parse = true &update = self.has_long_key = $$;
      }
      if (self.size > 2048 && !self.may_repeat) {
        var is_within : bool &parse = false &requires = $$;
      }
    }
    "set", "add", "replace", "append", "prepend" -> {
      store : stored(length(self.first) <= 250, false, self.head);
      if (self.store.is_quiet) { var none_stored : int8 &parse = 0 &update = self.replies = $$; }
      if (self.store.has_data) { stored_data : data(self.store.size.bytes); }
    }
    "cas" -> {
      compare : stored(length(self.first) <= 250, true, self.head);
      if (self.compare.is_quiet) { var none_compared : int8 &parse = 0 &update = self.replies = $$; }
      if (self.compare.has_data) { compared_data : data(self.compare.size.bytes); }
    }
    "delete", "incr", "decr", "touch" -> {
      change : line(self.head);
      if (self.change.is_quiet) { var none_changed : int8 &parse = 0 &update = self.replies = $$; }
    }
    "flush_all" -> {
      flush : line(self.head);
      var for_all : bool &parse = true &update = self.is_for_all = $$;
      if (self.flush.is_quiet_setting || (self.flush.is_alone && self.first == "noreply")) {
        var none_flushed : int8 &parse = 0 &update = self.replies = $$;
      }
    }
    "verbosity", "cache_memlimit" -> {
      setting : line(self.head);
      if (self.setting.is_quiet_setting || (self.setting.is_alone && self.first == "noreply")) {
        var none_set : int8 &parse = 0 &update = self.replies = $$;
      }
    }
    "ms" -> {
      meta_store : meta_stored(length(self.first) <= 250, self.head);
      if (self.meta_store.may_be_quiet) { var either_stored : int8 &parse = -1 &update = self.replies = $$; }
      if (self.meta_store.has_data) { meta_data : data(self.meta_store.size.bytes); }
    }
    "mg", "md", "ma", "me" -> {
      flags : token("[^\r\n\0]*") &max_size = 2k;
      : token("(\r|\0[^\n]*)?") &max_size = 2k &requires = self.head + length(self.flags) + length($$) <= 2048;
      : "\n";
      if (contains(self.flags, " q")) { var either : int8 &parse = -1 &update = self.replies = $$; }
    }
    "mn" -> {
      unread : token("[^\r\n\0]*") &max_size = 2k;
      : token("(\r|\0[^\n]*)?") &max_size = 2k &requires = self.head + length(self.unread) + length($$) <= 2048;
      : "\n";
    }
    "quit" -> {
      farewell : line(self.head);
      var leaves : bool &parse = true &update = self.ends_connection = $$;
      var nothing : int8 &parse = 0 &update = self.replies = $$;
    }
    "slabs", "lru", "lru_crawler", "refresh_certs", "extstore" -> {
      administration : line(self.head);
      if (self.administration.may_be_quiet || self.first == "noreply") {
        var one_or_none : int8 &parse = -1 &update = self.replies = $$;
      }
      if (self.first == "metadump") {
        var any_number : int8 &parse = -2 &update = self.replies = $$;
      }
    }
    "watch" -> {
      watched : line(self.head);
      var no_number : int8 &parse = -2 &update = self.replies = $$;
    }
    * -> { # "Statistics", "version", and what servers do not know
      rest : line(self.head);
      var is_first : bool &parse = self.rest.is_alone && starts_with(self.first, "HTTP/");
      var is_verb : bool &parse = length(self.first) == 0 && starts_with(self.verb, "HTTP/");
      if (self.rest.may_be_http || self.is_first || self.is_verb) {
        # What they take for HTTP they leave, but where they look for commands that begin so.
        var is_short : bool &parse = length(self.verb) < 2 || (length(self.verb) == 2 && starts_with(self.verb, "m"));
        var is_a : bool &parse = starts_with(self.verb, "a") || starts_with(self.verb, "c");
        var is_d : bool &parse = starts_with(self.verb, "d") || starts_with(self.verb, "g");
        var is_i : bool &parse = starts_with(self.verb, "i") || starts_with(self.verb, "s");
        var is_t : bool &parse = starts_with(self.verb, "t") || self.verb == "version";
        if (!(self.is_short || self.is_a || self.is_d || self.is_i || self.is_t)) {
          var is_left : bool &parse = length(self.rest.more) == 0 &update = self.ends_connection = $$;
          var either_left : int8 &parse = self.is_left ? 0 : -2 &update = self.replies = $$;
        }
      }
    }
  }
};

// A key with the space before it; none at the end of a line.
type spaced = unit {
  : " ";
  spaces : token(" *") &max_size = 2k;
  key : token("[^ \r\n\0]*") &max_size = 64k;
  ending : token("(\r|\0[^\n]*)?") &max_size = 64k;
  var size : uint64 &parse = 1 + length(self.spaces) + length(self.key) + length(self.ending);
};

// What is behind the first word, and which of it says that no answer is wanted: servers look at the last word, but not
// where there are too many.
type line = unit (uint64 before) {
  var size : uint64 &parse = before;
  : token(" *") &max_size = 2k &update = self.size = self.size + length($$);
  second : token("[^ \r\n\0]*") &max_size = 2k &update = self.size = self.size + length($$);
  : token(" *") &max_size = 2k &update = self.size = self.size + length($$);
  third : token("[^ \r\n\0]*") &max_size = 2k &update = self.size = self.size + length($$);
  : token(" *") &max_size = 2k &update = self.size = self.size + length($$);
  more : token("[^\r\n\0]*") &max_size = 2k &update = self.size = self.size + length($$);
  : token("(\r|\0[^\n]*)?") &max_size = 2k &requires = self.size + length($$) <= 2048;
  : "\n";
  var is_alone : bool &parse = length(self.second) == 0;
  var is_quiet_setting : bool &parse = length(self.third) == 0 && self.second == "noreply";
  var is_quiet : bool &parse = length(self.more) == 0 && (self.third == "noreply" || self.is_quiet_setting);
  var may_be_quiet : bool &parse = self.is_quiet || self.second == "noreply" || contains(self.more, "noreply");
  var is_http : bool &parse = length(self.third) == 0 && starts_with(self.second, "HTTP/");
  var is_long_http : bool &parse = length(self.more) == 0 && starts_with(self.third, "HTTP/");
  var may_be_http : bool &parse = self.is_http || self.is_long_http || contains(self.more, "HTTP/");
};

// A word that is to be a number, as the C library reads it: behind what may stand before one, and up to what ends one. It
// is neither right nor wrong where it is so long that it is not sure.
type numeral = unit (bool is_signed) {
  var size : uint64 &parse = 0;
  : token(" *") &max_size = 2k &update = self.size = length($$);
  sign : token("[\t\x0b\x0c]*[-+]?0*") &max_size = 2k;
  digits : token("[0-9]*") &max_size = 2k;
  var is_number : bool &parse = length(self.digits) > 0 || ends_with(self.sign, "0");
  var is_there : bool &parse = self.is_number || length(self.sign) > 0;
  var is_noreply : bool &parse = false;
  switch {
    -> : token("[\t\x0b\x0c][^ \r\n\0]*") &max_size = 2k &update = self.size = self.size + length($$);
    -> : token("[^ \r\n\0\t\x0b\x0c][^ \r\n\0]*") &max_size = 2k
      &update = self.size = self.size + length($$)
      &update = self.is_noreply = $$ == "noreply" && !self.is_there
      &update = self.is_there = true
      &update = self.is_number = false;
    -> { }
  }
  var whole_size : uint64 &parse = self.size + length(self.sign) + length(self.digits);
  var is_known : bool &parse = self.is_number && length(self.digits) <= 18;
  var value : int64 &parse = self.is_known && length(self.digits) > 0 ? int64(self.digits) : 0;
  var is_negative : bool &parse = self.value > 0 && contains(self.sign, "-");
  var is_right : bool &parse = self.is_known && (is_signed || !self.is_negative);
  var is_wrong : bool &parse = !self.is_number || (self.is_negative && !is_signed);
  if (self.is_number && !self.is_known) {
    var has_19 : bool &parse = length(self.digits) == 19 && !(is_signed && starts_with(self.digits, "9"));
    var has_20 : bool &parse = !is_signed && length(self.digits) == 20 && starts_with(self.digits, "1");
    var is_most : bool &parse = self.digits == "18446744073709551615";
    var is_near : bool &parse = self.has_20 && starts_with(self.digits, "18") && !self.is_most;
    var is_beyond : bool &parse = length(self.digits) > 19 && (!self.has_20 || starts_with(self.digits, "19"))
      &update = self.is_wrong = $$;
    var fits : bool &parse = self.has_19 || (self.has_20 && !self.is_near && !self.is_beyond);
    var is_large : bool &parse = self.fits && (is_signed || !contains(self.sign, "-")) &update = self.is_right = $$;
  }
};

// The same of how many bytes follow: servers keep 32 bits of it.
type size = unit {
  number : numeral(true);
  var bytes : int64 &parse = self.number.value;
  if (self.number.value > 0x7fffffff || self.number.is_negative) {
    var rest : int64 &parse = self.number.value % 0x100000000;
    var low : int64 &parse = self.number.is_negative ? (0x100000000 - self.rest) % 0x100000000 : self.rest;
    var kept : int64 &parse = self.low > 0x7fffffff ? self.low - 0x100000000 : self.low &update = self.bytes = $$;
  }
  var is_right : bool &parse = self.number.is_known && self.bytes >= 0 && self.bytes <= 0x7ffffffd;
  var is_wrong : bool &parse = self.number.is_wrong || (self.number.is_known && !self.is_right);
};

// "Storage commands" behind the key. Servers take the data that comes after a line that is right, whatever its end is.
type stored = unit (bool has_key, bool has_unique, uint64 before) {
  flags : numeral(false);
  expiration : numeral(true);
  size : size;
  var length : uint64 &parse = self.flags.whole_size + self.expiration.whole_size + self.size.number.whole_size;
  var are_there : bool &parse = self.size.number.is_there;
  var are_right : bool &parse = self.flags.is_right && self.expiration.is_right && self.size.is_right;
  var is_wrong : bool &parse = self.flags.is_wrong || self.expiration.is_wrong || self.size.is_wrong;
  var ends_quietly : bool &parse = self.size.number.is_noreply;
  if (has_unique) {
    unique : numeral(false);
    var is_there : bool &parse = self.unique.is_there &update = self.are_there = $$;
    var is_right : bool &parse = self.are_right && self.unique.is_right &update = self.are_right = $$;
    var is_no_number : bool &parse = self.is_wrong || self.unique.is_wrong &update = self.is_wrong = $$;
    var is_last : bool &parse = self.unique.is_noreply &update = self.ends_quietly = $$;
    var longer : uint64 &parse = self.length + self.unique.whole_size &update = self.length = $$;
  }
  : token(" *") &max_size = 2k &update = self.length = self.length + length($$);
  last : token("[^ \r\n\0]*") &max_size = 2k &update = self.length = self.length + length($$);
  : token(" *") &max_size = 2k &update = self.length = self.length + length($$);
  more : token("[^\r\n\0]*") &max_size = 2k &update = self.length = self.length + length($$);
  : token("(\r|\0[^\n]*)?") &max_size = 2k &requires = before + self.length + length($$) <= 2048;
  : "\n";
  var is_whole : bool &parse = self.are_there && length(self.more) == 0;
  var is_last_quiet : bool &parse = length(self.last) == 0 ? self.ends_quietly : self.last == "noreply";
  var is_quiet : bool &parse = self.is_whole && self.is_last_quiet;
  var has_data : bool &parse = self.is_whole && has_key && self.are_right
    &requires = $$ || !self.is_whole || !has_key || self.is_wrong;
};

// What is stored, and its end. What is larger than most servers keep goes along as it comes.
type data = unit (int64 size) {
  if (size <= 1500000) {
    content : bytes &length = size;
    ending : bytes &length = 2;
  } else {
    large : bytes &length = size + 2 &stream;
  }
};

// "Meta Set" behind the key. Of a line of more than 19 words servers take no data.
type meta_stored = unit (bool has_key, uint64 before) {
  size : size;
  ending : token("(\r|\0[^\n]*)?") &max_size = 2k;
  var has_ended : bool &parse = length(self.ending) > 0;
  var may_be_quiet : bool &parse = false;
  var count : uint64 &parse = 0;
  var length : uint64 &parse = before + self.size.number.whole_size + length(self.ending);
  flags : flag[] &until = "\n" &max_size = 2k &requires = !self.has_ended
    &update = self.has_ended = length($$.ending) > 0
    &update = self.may_be_quiet = self.may_be_quiet || starts_with($$.text, "q")
    &update = self.count = self.count + (length($$.text) > 0 ? 1 : 0)
    &update = self.length = self.length + $$.size;
  var has_data : bool &parse = has_key && self.size.is_right && self.count <= 16
    &requires = ($$ || !has_key || self.size.is_wrong || self.count > 16) && self.length <= 2048;
};

// A word of "Meta Set"; none at the end of a line.
type flag = unit {
  : " ";
  spaces : token(" *") &max_size = 2k;
  text : token("[^ \r\n\0]*") &max_size = 2k;
  ending : token("(\r|\0[^\n]*)?") &max_size = 2k;
  var size : uint64 &parse = 1 + length(self.spaces) + length(self.text) + length(self.ending);
};

// What is answered: to a retrieval all items at once, up to the END.
type response = unit {
  %max_size = 64M;

  switch {
    -> { number : uint64 &digits = 10; : "\r\n"; } # "Increment/Decrement"
    -> result : result;
  }
};

// A line of what is answered, an item with its data: all but the last are interim ("Retrieval command", "Statistics").
type reply = unit {
  %max_size = 2M;

  word : token("[^ \r\n\0]+") &max_size = 2k;
  var is_interim : bool &parse = false;
  # That of `mn`.
  var is_mark : bool &parse = false;
  switch (self.word) {
    "VALUE" -> {
      item : item;
      var is_followed : bool &parse = true &update = self.is_interim = $$;
    }
    "VA" -> meta : meta_value;
    "STAT", "ITEM", "PREFIX" -> {
      told : token("[^\r\n]*") &max_size = 2k;
      : "\r\n";
      var others_follow : bool &parse = true &update = self.is_interim = $$;
    }
    "MN" -> {
      : "\r\n";
      var marks : bool &parse = true &update = self.is_mark = $$;
    }
    * -> { # "Error strings", STORED, END, a number …
      rest : token("[^\r\n]*") &max_size = 2k;
      : "\r\n";
    }
  }
};

// "Expiration times", "Storage commands": the header of an item, its data, and of `cas` what it was when it was read.
type storage = unit (bool has_unique) {
  key : key;
  : " ";
  flags : uint32 &digits = 10;
  : " ";
  expiration : int64 &digits = 10;
  : " ";
  size : uint32 &digits = 10;
  if (has_unique) {
    : " ";
    unique : uint64 &digits = 10;
  }
  ending : ending;
  content : bytes &length = self.size;
  : "\r\n";
};

// "Get And Touch".
type touching_retrieval = unit {
  : " ";
  expiration : int64 &digits = 10;
  keys : key[] &until = "\r\n" &max_size = 10k;
};

// "Deletion".
type deletion = unit {
  key : key;
  ending : ending;
};

// "Increment/Decrement".
type change = unit {
  key : key;
  : " ";
  amount : uint64 &digits = 10;
  ending : ending;
};

// "Touch".
type touch = unit {
  key : key;
  : " ";
  expiration : int64 &digits = 10;
  ending : ending;
};

// "Meta Set": the size of the data, then the flags.
type meta_storage = unit {
  key : key;
  : " ";
  size : uint32 &digits = 10;
  flags : word[] &until = "\r\n" &max_size = 32;
  content : bytes &length = self.size;
  : "\r\n";
};

// "Meta Get", "Meta Delete", "Meta Arithmetic", "Meta Debug".
type meta_command = unit {
  key : key;
  flags : word[] &until = "\r\n" &max_size = 32;
};

// A word of capital letters says what it is.
type result = unit {
  word : token("[A-Z_]+") &max_size = 32;
  switch (self.word) {
    "VALUE" -> { first : item; more : further_item[] &until = "END\r\n" &max_size = 10k; } # "Retrieval command"
    "STAT" -> { statistic : statistic; others : further_statistic[] &until = "END\r\n" &max_size = 10k; } # "Statistics"
    "VA" -> meta : meta_value;
    "HD" -> flags : word[] &until = "\r\n" &max_size = 32;
    # "Error strings", STORED, END and others: a line, with or without a text
    * -> text : string &until = "\r\n" &max_size = 2k &convert = trim($$);
  }
};

// What comes after VALUE.
type item = unit {
  key : kept_key;
  : " ";
  flags : uint32 &digits = 10;
  : " ";
  size : uint32 &digits = 10;
  var unique : uint64 &parse = 0;
  switch {
    -> { : " "; cas : uint64 &digits = 10 &update = self.unique = $$; }
    -> { }
  }
  : "\r\n";
  content : bytes &length = self.size;
  : "\r\n";
};

type further_item = unit {
  : "VALUE";
  item : item;
};

// What comes after STAT: a name and its value, which may have spaces.
type statistic = unit {
  : " ";
  name : token("[!-~]+") &max_size = 250;
  : token(" ?");
  value : string &until = "\r\n" &max_size = 2k;
};

type further_statistic = unit {
  : "STAT";
  statistic : statistic;
};

// "VA <size> <flags>*\r\n", and the data.
type meta_value = unit {
  : " ";
  size : uint32 &digits = 10;
  flags : word[] &until = "\r\n" &max_size = 32;
  content : bytes &length = self.size;
  : "\r\n";
};

// "Keys": up to 250 bytes, without control characters and spaces.
type key = unit {
  : " ";
  text : token("[!-~\x80-\xff]+") &max_size = 250;
};

// A key that a server has: it takes control characters, too.
type kept_key = unit {
  : " ";
  text : token("[^ \r\n\0]+") &max_size = 250;
};

// Any other word of a line.
type word = unit {
  : " ";
  text : token("[^ \r\n\0]+") &max_size = 2k;
};

// The end of a command, which may say that no answer is wanted.
type ending = unit {
  var is_quiet : bool &parse = false;
  switch {
    -> { : " noreply" &update = self.is_quiet = true; }
    -> { }
  }
  : "\r\n";
};
