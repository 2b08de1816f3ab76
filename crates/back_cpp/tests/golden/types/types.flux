// Types of the language: records in each other, lists, and a key.
include "types.h";

record page { name : text; hits : list<hit>; best : optional<hit>; };
record hit { path : text; bytes : uint64; how : method; };
enum method { get, put };

Read () => (page p, map<text, uint32> counts);
Worth (hit h, int8 weight) => (float64 points);
Best (page p) => (hit h, int8 weight);
Print (float64 points) => ();

source Read => Rate;
Rate = Best -> Worth -> Print;
atomic Worth:{hits(h)};
