// The bank of examples/bank, where one constraint does for everything.
Order () => (int from, int to, long amount);
Withdraw (int from, long amount) => ();
Deposit (int to, long amount) => ();
Audit () => ();

source Order => Transfer;
source every 10ms => Audit;

Transfer (int from, int to, long amount) => ();
Transfer = Withdraw -> Deposit;
handle error Withdraw => Refuse;

atomic Transfer:{bank};
atomic Audit:{bank};
