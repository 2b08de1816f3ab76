// A server that nobody asks: it looks at the machine's load every second and sums up every five. README.md says how to
// run it.

Measure () => (double load);
Record (double load) => ();
SumUp () => (double average, int count);
Print (double average, int count) => ();

// Each beat of a timer starts a flow.
source every 1s => Sample;
source every 5s => Summary;

Sample = Measure -> Record;
Summary = SumUp -> Print;

// The flows of both timers share the samples: while one is in Record or SumUp, no other is.
atomic Record:{samples};
atomic SumUp:{samples};
