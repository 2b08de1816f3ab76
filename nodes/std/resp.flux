// The messages of Redis, RESP2 and RESP3: https://redis.io/docs/latest/develop/reference/protocol-spec/, whose sections
// are named here. `flux message std.resp value` prints them: commands and replies alike are values.

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
    -> { : "_"; null : "\r\n"; } # "Nulls"
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
