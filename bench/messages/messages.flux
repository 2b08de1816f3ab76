// The readers of three standard grammars. Its main gives way to that of the bench.
use std.http_message;
use std.memcached;
use std.resp;

Start () => (int value);
Read (int value) => ();

source Start => Bench;

Bench = Read;
