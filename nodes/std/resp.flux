// The messages of Redis, RESP2 and RESP3: https://redis.io/docs/latest/develop/reference/protocol-spec/, whose sections
// are named here. `flux message std.resp value` prints them: commands and replies alike are values. A server takes the
// messages `resp.command` and answers with `resp.value(integer: 1)`, say.

include "resp.h";

// Any value. The first byte says which it is; a line ends with CR and LF.
type value = unit {
  %max_size = 64M;

  switch {
    # RESP2
    -> { : "+"; text : string &until = "\r\n" &max_size = 64k; } # "Simple strings"
    -> { : "-"; failure : string &until = "\r\n" &max_size = 64k; } # "Simple errors"
    -> { : ":"; integer : int64 &digits = 10; : "\r\n"; } # "Integers"
    -> { : "$"; bulk : blob; } # "Bulk strings"
    -> { : "*"; array : values &max_depth = 32; } # "Arrays"
    # RESP3
    -> { null : token("_"); : "\r\n"; } # "Nulls"
    -> { : "#"; boolean : token("[tf]"); : "\r\n"; } # "Booleans"
    -> { : ","; real : string &until = "\r\n" &max_size = 64; } # "Doubles"
    -> { : "("; big_number : token("[-+]?[0-9]+") &max_size = 64k; : "\r\n"; } # "Big numbers"
    -> { : "!"; bulk_error : blob; } # "Bulk errors"
    -> { : "="; verbatim : blob; } # "Verbatim strings"
    -> { : "%"; map : entries &max_depth = 32; } # "Maps"
    -> { : "|"; attributes : entries &max_depth = 32; # "Attributes"
      of : value &max_depth = 32; }
    -> { : "~"; set : values &max_depth = 32; } # "Sets"
    -> { : ">"; push : values &max_depth = 32; } # "Pushes"
    # "Inline commands": a line of words, as one types them
    -> { command : token("[A-Za-z][^\r\n]*") &max_size = 64k; : "\r\n"; }
  }
};

// Bytes after their number, which is -1 for RESP2's null.
type blob = unit {
  size : int64 &digits = 10 &requires = $$ >= -1;
  : "\r\n";
  if (self.size >= 0) {
    content : bytes &length = self.size;
    : "\r\n";
  }
};

// Values after their number, which is -1 for RESP2's null.
type values = unit {
  count : int64 &digits = 10 &requires = $$ >= -1;
  : "\r\n";
  if (self.count >= 0) {
    elements : value[self.count];
  }
};

// Keys and values after the number of pairs.
type entries = unit {
  count : uint32 &digits = 10;
  : "\r\n";
  pairs : pair[self.count];
};

type pair = unit {
  key : value;
  content : value;
};

// A command as a server takes it: an array of bulk strings, of which the first is its name, or a line of words as one
// types it ("Inline commands", whose lines may end without "\r"). An empty array or line asks for nothing. An array
// with a negative count is empty.
type command = unit {
  %max_size = 64M;

  switch {
    -> {
      : "*";
      count : int64 &digits = 10 &requires = $$ <= 1M;
      : "\r\n";
      if (self.count > 0) {
        : "$";
        name_size : uint32 &digits = 10;
        : "\r\n";
        name : string &length = self.name_size;
        : "\r\n";
      }
      if (self.count > 1) {
        first : word;
      }
      if (self.count > 2) {
        second : word;
      }
      if (self.count > 3) {
        others : word[self.count - 3];
      }
    }
    -> { line : token("[^*\n][^\n]*") &max_size = 64k; : "\n"; }
    -> { empty : token("\n"); }
  }
};

// Values of one kind each, which cost less to make than a `value`: a bulk string, an integer, a simple string, an error,
// and the nulls of RESP2 and of RESP3.
type word = unit {
  : "$";
  size : uint32 &digits = 10;
  : "\r\n";
  content : string &length = self.size;
  : "\r\n";
};
type number = unit { : ":"; value : int64 &digits = 10; : "\r\n"; };
type okay = unit { : "+"; text : string &until = "\r\n" &max_size = 64k; };
type failure = unit { : "-"; text : string &until = "\r\n" &max_size = 64k; };
type no_bulk = unit { : "$-1\r\n"; };
type null = unit { : "_\r\n"; };

// What a subscriber is sent of each message on its channel: an array in RESP2, whose first byte is "*", a push in RESP3,
// with ">".
type published = unit {
  %max_size = 64M;
  form : token("[*>]");
  : "3\r\n$7\r\nmessage\r\n$";
  channel_size : uint32 &digits = 10;
  : "\r\n";
  channel : string &length = self.channel_size;
  : "\r\n$";
  content_size : uint32 &digits = 10;
  : "\r\n";
  content : string &length = self.content_size;
  : "\r\n";
};

// The array of the words in a line. They stand between spaces, or in quotes: in double ones `\n`, `\r`, `\t`, `\b`,
// `\a` and `\xff` are bytes. Fails with EBADMSG where quotes do not end.
Split (command message) => (command message) pure;
