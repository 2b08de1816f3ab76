// The bank of examples/bank without constraints: its nodes take locks of their own.
Order () => (int from, int to, long amount);
Transfer (int from, int to, long amount) => ();
Audit () => ();

source Order => Transfer;
source every 10ms => Audit;

handle error Transfer => Refuse;
