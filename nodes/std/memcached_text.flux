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
// is a line that is no command, for a server to say what is wrong with it, where it is sure what they make of it: where the
// next command begins, and how many replies come. Others are no command here. A line has less than 2048 bytes:
// servers that have read so many and no end disconnect who sends them.
type command = unit {
  %max_size = 2M;

  : token(" *") &max_size = 20;
  verb : token("[!-~\x80-\xff]*") &max_size = 250;
  gap : token(" *") &max_size = 20;
  first : token("[!-~\x80-\xff]*") &max_size = 800;
  # One reply, in the order of the requests ("noreply": none; of meta commands that may be quiet it cannot be told).
  var replies : int8 &parse = 1;
  var in_order : bool &parse = true;
  var may_repeat : bool &parse = self.verb == "get" || self.verb == "gets";
  var ends_connection : bool &parse = self.verb == "quit";
  switch (self.verb) {
    "get", "gets", "bget" -> {
      ending : token("\r?");
      var has_ended : bool &parse = self.ending == "\r";
      others : spaced[] &until = "\n" &max_size = 10k &requires = !self.has_ended
        &update = self.has_ended = $$.ending == "\r";
    }
    "gat", "gats" -> { # behind the expiration
      no_keys : token("\r?");
      var have_ended : bool &parse = self.no_keys == "\r";
      keys : spaced[] &until = "\n" &max_size = 10k &requires = !self.have_ended
        &update = self.have_ended = $$.ending == "\r";
    }
    "set", "add", "replace", "append", "prepend" -> {
      store : stored(length(self.first) <= 250, false);
      if (self.store.is_quiet) { var none_stored : int8 &parse = 0 &update = self.replies = $$; }
      if (self.store.has_data) { stored_data : data(self.store.size.value); }
    }
    "cas" -> {
      compare : stored(length(self.first) <= 250, true);
      if (self.compare.is_quiet) { var none_compared : int8 &parse = 0 &update = self.replies = $$; }
      if (self.compare.has_data) { compared_data : data(self.compare.size.value); }
    }
    "delete", "incr", "decr", "touch" -> {
      change : line;
      if (self.change.is_quiet) { var none_changed : int8 &parse = 0 &update = self.replies = $$; }
    }
    "flush_all", "verbosity", "cache_memlimit" -> {
      setting : line;
      if (self.setting.is_quiet_setting || (self.setting.is_alone && self.first == "noreply")) {
        var none_set : int8 &parse = 0 &update = self.replies = $$;
      }
      if (self.verb == "verbosity" && length(self.setting.third) > 0) {
        var none_or_one : int8 &parse = -1 &update = self.replies = $$;
      }
    }
    "ms" -> {
      meta_store : meta_stored(length(self.first) <= 250);
      if (self.meta_store.may_be_quiet) { var either_stored : int8 &parse = -1 &update = self.replies = $$; }
      if (self.meta_store.has_data) { meta_data : data(self.meta_store.size.value); }
    }
    "mg", "md", "ma", "me" -> {
      flags : token("[ -~\x80-\xff]*") &max_size = 700;
      : token("\r?");
      : "\n";
      if (contains(self.flags, " q")) { var either : int8 &parse = -1 &update = self.replies = $$; }
    }
    "quit" -> {
      farewell : line;
      var nothing : int8 &parse = 0 &update = self.replies = $$;
    }
    "watch", "shutdown", "slabs", "lru", "lru_crawler" -> {
      administration : line;
      var any_number : int8 &parse = -1 &update = self.replies = $$;
    }
    * -> { # "Statistics", "version", "mn", and what servers do not know
      rest : line;
      # They take it for HTTP, and leave.
      if (self.rest.may_be_http) { var no_number : int8 &parse = -1 &update = self.replies = $$; }
    }
  }
};

// A key with the space before it; none at the end of a line.
type spaced = unit {
  : " ";
  : token(" *") &max_size = 20;
  key : token("[!-~\x80-\xff]*") &max_size = 800;
  ending : token("\r?");
};

// What is behind the first word, and which of it says that no answer is wanted: servers look at the last word, but not
// where there are too many.
type line = unit {
  : token(" *") &max_size = 20;
  second : token("[!-~\x80-\xff]*") &max_size = 250;
  : token(" *") &max_size = 20;
  third : token("[!-~\x80-\xff]*") &max_size = 250;
  more : token("[ -~\x80-\xff]*") &max_size = 200;
  : token("\r?");
  : "\n";
  var is_alone : bool &parse = length(self.second) == 0;
  var is_quiet : bool &parse = length(trim(self.more)) == 0 &&
    (self.third == "noreply" || (length(self.third) == 0 && self.second == "noreply"));
  var is_quiet_setting : bool &parse = length(self.third) == 0 && self.second == "noreply";
  var may_be_http : bool &parse = starts_with(self.second, "HTTP/") || starts_with(self.third, "HTTP/") ||
    contains(self.more, "HTTP/");
};

// A word that is to be a number. It is not used where it is not sure what servers make of it.
type numeral = unit (bool may_be_negative, int64 most) {
  : token(" *") &max_size = 20;
  sign : token("[-+]?");
  digits : token("[0-9]*") &max_size = 40;
  rest : token("[!-~\x80-\xff]*") &max_size = 40;
  var is_there : bool &parse = length(self.sign) + length(self.digits) + length(self.rest) > 0;
  var is_whole : bool &parse = length(self.rest) == 0 && length(self.digits) > 0 && length(self.digits) <= 18;
  var value : int64 &parse = self.is_whole ? int64(self.digits) : 0;
  var is_right : bool &parse = self.is_whole && self.value <= most &&
    (length(self.sign) == 0 || (may_be_negative && self.sign == "-"));
  var is_wrong : bool &parse = length(self.rest) > 0 || length(self.digits) == 0 ||
    (self.is_whole && self.value > 0 && self.sign == "-" && !may_be_negative);
};

// "Storage commands" behind the key. Servers take the data that comes after a line that is right, whatever its end is.
type stored = unit (bool has_key, bool has_unique) {
  flags : numeral(false, 0xffffffff);
  expiration : numeral(true, 0x7fffffff);
  size : numeral(false, 0x7ffffff0);
  var are_there : bool &parse = self.size.is_there;
  var are_right : bool &parse = self.flags.is_right && self.expiration.is_right && self.size.is_right;
  var is_wrong : bool &parse = self.flags.is_wrong || self.expiration.is_wrong || self.size.is_wrong;
  if (has_unique) {
    unique : numeral(false, 0xfffffffffffffff);
    var is_there : bool &parse = self.unique.is_there &update = self.are_there = $$;
    var is_right : bool &parse = self.are_right && self.unique.is_right &update = self.are_right = $$;
    var is_no_number : bool &parse = self.is_wrong || self.unique.is_wrong &update = self.is_wrong = $$;
  }
  : token(" *") &max_size = 20;
  last : token("[!-~\x80-\xff]*") &max_size = 250;
  more : token("[ -~\x80-\xff]*") &max_size = 100;
  : token("\r?");
  : "\n";
  var is_whole : bool &parse = self.are_there && length(trim(self.more)) == 0;
  var is_quiet : bool &parse = self.is_whole && self.last == "noreply";
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

// "Meta Set" behind the key.
type meta_stored = unit (bool has_key) {
  size : numeral(false, 0x7ffffff0);
  ending : token("\r?");
  var has_ended : bool &parse = self.ending == "\r";
  var may_be_quiet : bool &parse = false;
  flags : flag[] &until = "\n" &max_size = 16 &requires = !self.has_ended
    &update = self.has_ended = $$.ending == "\r"
    &update = self.may_be_quiet = self.may_be_quiet || starts_with($$.text, "q");
  var has_data : bool &parse = has_key && self.size.is_right &requires = $$ || !has_key || self.size.is_wrong;
};

// A word of "Meta Set"; none at the end of a line.
type flag = unit {
  : " ";
  : token(" *") &max_size = 3;
  text : token("[!-~\x80-\xff]*") &max_size = 40;
  ending : token("\r?");
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

  word : token("[!-~\x80-\xff]+") &max_size = 2k;
  var is_interim : bool &parse = self.word == "VALUE" || self.word == "STAT" || self.word == "ITEM" ||
    self.word == "PREFIX";
  switch (self.word) {
    "VALUE" -> item : item;
    "VA" -> meta : meta_value;
    * -> { # "Error strings", STORED, END, a number …
      rest : token("[ -~\x80-\xff]*") &max_size = 2k;
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
  key : key;
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

// Any other word of a line.
type word = unit {
  : " ";
  text : token("[!-~\x80-\xff]+") &max_size = 2k;
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
