// The corners of the language: names that the generated code would like to have, arrays, nothing in, nothing out.
include "corners.h";

// Sources with values and without; one function is written in C.
Tick () => ();
Read () => (int matrix[2][3], char name[16], enum color tint);
source Tick => flow;
source Read => out;
source Read => error_;

// Nodes called like what generated code calls its own.
flow = nothing -> in -> nothing -> nothing;
nothing () => ();
in () => ();
in = ;
error_ (int matrix[2][3], char name[16], enum color tint) => ();
out (int matrix[2][3], char name[16], enum color tint) => ();
out = Turn -> Turn -> Turn_input -> node_Turn -> lock_a;
Turn (int matrix[2][3], char name[16], enum color tint) => (int matrix[2][3], char name[16], enum color tint);
Turn_input (int matrix[2][3], char name[16], enum color tint) => (int matrix[2][3], char name[16], enum color tint);
node_Turn (int matrix[2][3], char name[16], enum color tint) => (int matrix[2][3], char name[16], enum color tint);
node_Turn = ;
lock_a (int matrix[2][3], char name[16], enum color tint) => ();
lock_a = Turn_Input;
Turn_Input (int matrix[2][3], char name[16], enum color tint) => ();
handle error Turn_Input => nodes;

// A lock named like a node's, two at once.
atomic Turn:{Turn, a, b?};
atomic in:{a?};
