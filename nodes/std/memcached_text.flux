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

// The same as proxies send it on: with the word behind the verb, which is the key of most, and what its replies are.
type command = unit {
  %max_size = 2M;

  verb : token("[!-~]+") &max_size = 250; # of others than these the line goes on as it is
  first : token("( [!-~\x80-\xff]*)?") &max_size = 251; # with its space
  # One reply, in the order of the requests ("noreply": none; of meta commands, which may be quiet, it cannot be told).
  var replies : int8 &parse = 1;
  var in_order : bool &parse = true;
  var may_repeat : bool &parse = self.verb == "get" || self.verb == "gets";
  switch (self.verb) {
    "get", "gets" -> others : spaced[] &until = "\r\n" &max_size = 10k;
    "gat", "gats" -> keys : spaced[] &until = "\r\n" &max_size = 10k; # behind the expiration
    "set", "add", "replace", "append", "prepend" -> {
      store : stored(false);
      if (self.store.ending.is_quiet) { var none_stored : int8 &parse = 0 &update = self.replies = $$; }
    }
    "cas" -> {
      compare : stored(true);
      if (self.compare.ending.is_quiet) { var none_compared : int8 &parse = 0 &update = self.replies = $$; }
    }
    "incr", "decr", "touch" -> {
      : " ";
      number : token("[0-9-]+") &max_size = 20;
      change : ending;
      if (self.change.is_quiet) { var none_changed : int8 &parse = 0 &update = self.replies = $$; }
    }
    "ms" -> {
      : " ";
      size : uint32 &digits = 10;
      flags : word[] &until = "\r\n" &max_size = 32;
      content : bytes &length = self.size;
      : "\r\n";
      var either_stored : int8 &parse = -1 &update = self.replies = $$;
    }
    * -> { # "Deletion", "Statistics", "flush_all", "version", "mn" …
      rest : token("[ -~\x80-\xff]*") &max_size = 2k;
      : "\r\n";
      if (self.rest == " noreply" || self.first == " noreply" || self.verb == "quit" || self.verb == "shutdown") {
        var none : int8 &parse = 0 &update = self.replies = $$;
      }
      if (self.verb == "mg" || self.verb == "md" || self.verb == "ma" || self.verb == "me") {
        var either : int8 &parse = -1 &update = self.replies = $$;
      }
    }
  }
};

// A key with the space before it.
type spaced = unit {
  key : token(" [!-~\x80-\xff]+") &max_size = 251;
};

// "Storage commands" behind the key.
type stored = unit (bool has_unique) {
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
  var is_interim : bool &parse = self.word == "VALUE" || self.word == "STAT";
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
