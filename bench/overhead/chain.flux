// Ten nodes that do nothing, one after the other: what remains is what Flux costs.
Start () => (int value);
One (int value) => (int value);
Two (int value) => (int value);
Three (int value) => (int value);
Four (int value) => (int value);
Five (int value) => (int value);
Six (int value) => (int value);
Seven (int value) => (int value);
Eight (int value) => (int value);
Nine (int value) => (int value);
Ten (int value) => ();

source Start => Chain;

Chain = One -> Two -> Three -> Four -> Five -> Six -> Seven -> Eight -> Nine -> Ten;
