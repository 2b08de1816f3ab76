// 100 light flows and 100 heavy ones, as of the paper's Figure 7: each has as many items, those of a light one of 1
// KiB, those of a heavy one of 16 KiB, and adds all their bytes. fairness.cpp says how flows come, and prints when the last
// light one and the last of all have ended. A body's loop has others go on after its slice; with `--flux-max-flows=1`
// one flow at a time runs, each to its end.
include "fairness.h";

option items : int = 400;

source Come => Sum;

Come = Next(items);
Next (int items) => (bool is_heavy, list<int64> items, list<uint8> item);

Sum (bool is_heavy, list<int64> items, list<uint8> item) => ();
Sum = Add -> Ended;

Add (bool is_heavy, list<int64> items, list<uint8> item) => (bool is_heavy, uint64 sum) {
  sum = 0;
  for i in items {
    for byte in item {
      sum = sum + byte;
    }
  }
};
Ended (bool is_heavy, uint64 sum) => ();
