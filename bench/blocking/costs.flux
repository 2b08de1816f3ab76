// What a call costs that is caught and need not wait, beside the same call made straight to the C library, in a node.
// Prints a table and ends:
//
//     flux run bench/blocking/costs.flux bench/blocking/costs.cpp -- --flux-runtime=event

source Once => Measure;
Once () => ();
Measure () => ();
