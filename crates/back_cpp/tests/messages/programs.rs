//! Small programs, one for each part of the notation, with messages of them.

/// A name, the text, the message, and bytes that are one.
pub type Program = (&'static str, &'static str, &'static str, &'static [&'static [u8]]);

/// All of them.
pub const ALL: &[Program] = &[
    (
        "numbers",
        "type all = unit {
           %byteorder = little;
           a : int8; b : uint16; c : int24; d : uint40; e : int64;
           f : bits(3); g : bits(13); h : bits(1); var odd : bool &parse = self.g % 2 == 1; i : bits(7);
           n : uint8; list : int16[self.n]; d16 : int32 &digits = 16; : \";\"; hexes : digit[2];
         };
         type digit = unit { d : uint8 &digits = 10; : \".\"; };",
        "all",
        &[b"\xff\x01\x02\xff\xff\xff\x01\x02\x03\x04\x05\x01\x02\x03\x04\x05\x06\x07\x88\
            \xa5\x5a\xf1\x02\x01\x00\xff\xff-7fA;1.255."],
    ),
    (
        "texts",
        "type head = unit {
           %max_size = 4k;
           method : token(\"[A-Z]+\") &max_size = 9 &convert = lower($$); : \" \";
           target : token(\"[^ \\r\\n]*\") &max_size = 64; : \" HTTP/1.\";
           minor : token(\"[01]\"); : \"\\r\\n\";
           var length : uint64 &parse = 0;
           fields : entry[] &until = \"\\r\\n\" &max_size = 5
             &update = self.length = $$.size + self.length;
           body : bytes &length = self.length;
           tail : bytes &eod &max_size = 9;
         };
         type entry = unit {
           name : token(\"[A-Za-z-]+\") &max_size = 16; : \":\";
           : token(\" *\") &max_size = 4;
           value : string &until = \"\\r\\n\" &max_size = 32;
           var is_length : bool &parse = lower(self.name) == \"content-length\";
           var size : uint16 &parse = 0 + length(self.value);
         };",
        "head",
        &[b"GET /a/b HTTP/1.1\r\nHost: x\r\nContent-Length:  12\r\n\r\nabcdef", b"G  HTTP/1.0\r\n\r\n"],
    ),
    (
        "changes",
        "type all = unit {
           var seen : bool &parse = false;
           var count : uint8 &parse = 1;
           a : uint8 &requires = !self.seen;
           var twice : uint8 &parse = self.count * 2;
           if (self.count == 1) { b : bytes &length = self.count; }
           if (self.seen) { never : uint8; }
           switch (self.count) { 1 -> x : uint8; * -> y : uint16; }
           c : string &length = self.count;
           d : sized(self.count);
           e : uint8[self.count + 1] &update = self.count = self.count + 1;
           f : uint8 &requires = $$ < 200 &update = self.seen = true &update = self.count = $$;
           g : bytes &length = self.twice;
           switch (self.count) { 7 -> seven : uint16; * -> other : bytes &length = self.count; }
           h : uint8 &update = self.count = $$;
           i : bytes &length = 3;
         };
         type sized = unit (uint8 size) { text : bytes &length = size; rest : uint8[size]; };",
        "all",
        &[b"abxcdefg\x07klmnoxyz", b"abxcdefg\x02klmnoxyz"],
    ),
    (
        "choices",
        "type answer = unit {
           kind : uint8;
           if (self.kind > 16) { reason : uint16; } else if (self.kind == 3) { : \"!\"; }
           switch (self.kind) {
             1, 2 -> one : uint8;
             0x10 -> { count : uint8; all : uint32[self.count]; }
             * -> { }
           }
           switch {
             -> { : \"+\"; text : string &until = \"\\r\\n\" &max_size = 1k; }
             -> { : \":\"; number : int64 &digits = 10; : \"\\r\\n\"; }
             -> { words : token(\"[a-z]+( [a-z]+)*\") &max_size = 20; : \"\\n\"; }
           }
           name : string &length = 3;
           switch (self.name) { \"abc\" -> { x : uint8 &requires = $$ < 100; } \"def\" -> { y : uint16; } }
         };",
        "answer",
        &[
            b"\x01\x07+hello\r\nabc\x05",
            b"\x10\x02\0\0\0\x01\0\0\0\x02:-12\r\ndef\0\x01",
            b"\x03!ab cd\nabc\x01",
            b"\x99\0\x01+\r\nabc\0",
        ],
    ),
    (
        "formulas",
        "type sums = unit {
           a : uint64; b : int32; n : uint8;
           var c : uint64 &parse = self.a + 8 - self.n;
           var d : int64 &parse = self.b * 1000000000 - (self.b - (int64(self.n) - 5));
           var e : uint32 &parse = 100 / self.n;
           var t : string &parse = lower(\"AbC\");
           s : string &length = self.n * 2 - 2;
           var u : uint8 &parse = uint8(self.s);
           var p : bool &parse = contains(self.s, \"1\") && !starts_with(self.s, \"3\");
         };",
        "sums",
        &[
            b"\0\0\0\0\0\0\0\x01\0\0\0\x02\x0212",
            b"\xff\xff\xff\xff\xff\xff\xff\xf8\xff\xff\xff\xfe\x0101",
            b"\0\0\0\0\0\0\0\0\0\0\0\0\x02+1",
        ],
    ),
    (
        "bounded",
        "type all = unit {
           %max_size = 90;
           parts : part[] &until = \";\" &max_size = 3;
           size : uint8;
           sized : part &length = self.size;
           back : part &parse_at = 0;
           deep : deep &max_depth = 2;
           rest : rest &length = 7;
           last : rest;
         };
         type part = unit {
           %max_size = 6;
           word : token(\"[a-z]*\") &max_size = 9; : \",\"; n : uint64 &digits = 10; : \".\";
         };
         type deep = unit {
           %max_size = 5;
           count : uint8;
           if (self.count > 1) { deep : deep &max_depth = 2; }
           text : bytes &length = self.count % 4;
         };
         type rest = unit { %max_size = 5; a : bytes &until = \"!\" &max_size = 9; b : bytes &eod &max_size = 9; };",
        "all",
        &[
            b"ab,1.abc,1.,123.;\x06abc,1.\x02\x01xyyabcd!efab!cd",
            b"abcd,1.;\x05ab,1.\x00abc!efgabc!",
            b"abc,1.;\x05ab,1.\x00abc!efgabc!d",
            b"abc,1.;\x05ab,1.\x05\x02\x01aabbabc!efgabc!d",
        ],
    ),
    (
        "lengths",
        "type all = unit {
           var size : uint8 &parse = 0;
           a : uint8 &update = self.size = $$;
           list : uint8[] &length = self.size &max_size = 9 &update = self.size = self.size + $$;
           words : word[] &length = self.size % 10 &max_size = 4 &update = self.size = 1;
           rest : bytes &length = self.size;
         };
         type word = unit { size : uint8; text : string &length = self.size; };",
        "all",
        &[b"\x03\x01\x02\x01\x02ab\x01c\x01dx", b"\x02\x00\x00\x01ay", b"\x00"],
    ),
    (
        "lists",
        "type tree = unit {
           count : uint8 &requires = $$ < 4;
           children : tree[self.count] &max_depth = 3;
           size : uint8;
           pieces : piece(self.count)[] &length = self.size &max_size = 3;
           chain : chained[] &until = $$.next == 0 &max_size = 3 &requires = $$.value != 7;
           words : token(\"[a-z]+,\")[] &until = \".\" &max_size = 3;
           numbers : uint24[2];
           last : last &max_depth = 2;
         };
         type last = unit { more : uint8; if (self.more == 1) { last : last &max_depth = 2; } };
         type piece = unit (uint8 outer) { a : uint8; if (outer == 0) { b : uint8; } };
         type chained = unit { value : uint8; next : uint8; };",
        "tree",
        &[
            b"\0\x04abcd\x01\x01\x02\0ab,c,.\0\0\x01\0\0\x02\x01\0",
            b"\x01\0\0\x01\0.\0\0\x01\0\0\x02\0\x02xy\x01\0z,.\0\0\x01\0\0\x02\x01\x01\0",
        ],
    ),
    (
        "updated",
        "type all = unit {
           var sum : uint32 &parse = 0; var odd : bool &parse = false;
           a : uint8 &update = self.sum = self.sum + $$;
           b : uint24 &convert = $$ % 1000 &requires = $$ != 7 &update = self.sum = $$ * 2;
           c : bits(3) &update = self.odd = $$ % 2 == 1; d : bits(5) &update = self.sum = self.sum + $$;
           word : string &length = 2 &update = self.odd = self.odd || $$ == \"ab\";
           digits : uint16 &digits = 10 &update = self.sum = self.sum + $$; : \";\";
           if (self.b > 500) { e : int16 &update = self.sum = self.sum + 1; }
           var kind : string &parse = lower(self.word) &requires = $$ != \"xx\" && $$ != self.word + \"y\"
             &update = self.odd = self.odd || $$ == \"ab\";
           text : bytes &length = self.sum % 10;
           mark : string &length = 1 &requires = !self.odd || $$ == \"!\" &update = self.odd = true;
           more : uint8;
         };",
        "all",
        &[b"\x05\x00\x01\x02\x65ab12;01234567!89", b"\xff\x00\x03\x02\x9fxy65535;\xff\xff0123456789"],
    ),
    (
        "converted",
        "type all = unit {
           a : uint16 &convert = $$ % 1000;
           if (self.a > 500) { b : uint8 &convert = $$ > 3 &requires = $$ != 9; }
           size : token(\"[0-9]+\") &max_size = 3 &convert = uint8($$); : \";\";
           text : bytes &length = self.size;
           n : uint8 &convert = $$ % 4; list : uint8[self.n + 1];
           kind : string &until = \"!\" &max_size = 2 &convert = lower($$);
           switch (self.kind) { \"ab\" -> c : string &until = \".\" &max_size = 9 &convert = trim($$); * -> d : uint8; }
           inner : inner &requires = $$.value != 7;
           rest : bytes &length = self.inner.value;
         };
         type inner = unit { value : uint8 &convert = $$ % 10 &requires = $$ != 5; };",
        "all",
        &[b"\x00\x052;ab\x05\x01\x02aB!cd .\x0bx", b"\x03\xe7\x04003;abc\x00\x01cD!\x15\x00"],
    ),
    (
        // The byte that decides a choice is the first that is too many, and in a choice again.
        "chosen",
        "type all = unit {
           %max_size = 6;
           before : string &until = \".\" &max_size = 9;
           switch {
             -> {
               : \"+\";
               switch { -> { : \"-\"; a : uint64; } -> { : \"*\"; b : string &until = \";\" &max_size = 90; } }
             }
             -> { : \":\"; c : uint32; }
             -> { : \"=\"; d : string &until = \";\" &max_size = 90; }
           }
         };",
        "all",
        &[b".=a;", b"abcd.=bcd;", b"abcde.=bcd;", b"abcde.:1234", b"abcde.+-12345678", b"abcd.+*1234;", b"a.:1234"],
    ),
    (
        // As large as it may be, and the next byte decides whether it ends.
        "ended",
        "type all = unit { %max_size = 3; a : bytes &length = 3; switch { -> { : \"+\"; b : uint8; } -> { } } };",
        "all",
        &[b"abc"],
    ),
    (
        // What fields give others before they are written, in choices too.
        "serialized",
        "type all = unit {
           kind : uint8; total : uint8; count : uint8; sum : uint8;
           if (self.kind == 1) {
             var size : uint8 &parse = self.total - 1 &serialize = self.total = $$ + 1;
             text : bytes &length = self.size;
           } else {
             other : uint8 &serialize = self.total = $$ + 2;
           }
           switch (self.kind) {
             1 -> { a : uint8 &serialize = self.count = $$ + self.total; }
             2 -> {
               var n : uint8 &parse = self.count &serialize = self.sum = $$ * 2;
               list : uint16[self.n];
             }
             3 -> { more : uint8 &serialize = self.sum = 10 / $$; }
             * -> { rest : bytes &length = self.total; }
           }
         };",
        "all",
        &[
            b"\x01\x03\x05\x00ab\x02",
            b"\x02\x03\x02\x04\x01abcd",
            b"\x03\x09\x00\x05\x07\x02",
            b"\x04\x03\x00\x00\x01abc",
        ],
    ),
    (
        // The same of what nobody gives.
        "following",
        "type all = unit {
           a : uint8; b : uint8; n : uint8; c : uint8;
           var d : uint8 &parse = self.a - 1 &serialize = self.a = $$ + 1;
           : uint8 &serialize = self.b = $$ + 3;
           : bytes &length = self.n - 2;
           x : uint8 &serialize = self.c = self.n + $$;
         };",
        "all",
        &[b"\x01\x03\x02\x05\x00\x03", b"\x01\x04\x02\x0b\x01\x09"],
    ),
];
