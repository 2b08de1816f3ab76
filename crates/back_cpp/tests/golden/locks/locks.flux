// Constraints of constraints: the paper's example (section 3.1.1), and a node that two callers share.
source In => A;
source In => C;
source In => E;

In () => (int value);
A (int value) => (int value);
B (int value) => (int value);
C (int value) => (int value);
D (int value) => (int value);
E (int value) => (int value);
F (int value) => (int value);

// A takes x, then y inside; C would take y, then x: x is moved up to C.
A = B;
C = D;
atomic A:{x};
atomic B:{y};
atomic C:{y};
atomic D:{x};

// Of the two that call it, one holds what Shared needs.
Shared (int value) => (int value);
Shared = F;
E = Shared -> Alone;
Alone (int value) => (int value);
Alone = Shared;
atomic Alone:{z};
atomic Shared:{z?};
