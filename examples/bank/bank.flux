// A bank of many accounts. Transfers between different accounts run at once; two that share an account wait for each
// other; an audit sees no transfer half done. README.md says how to run it.
Order () => (int from, int to, long amount);
Withdraw (int from, long amount) => ();
Deposit (int to, long amount) => ();
Audit () => ();

source Order => Transfer;
source every 10ms => Audit;

// Between the two nodes the money is on no account.
Transfer (int from, int to, long amount) => ();
Transfer = Withdraw -> Deposit;
handle error Withdraw => Refuse;

// A transfer needs its two accounts for itself, and shares the ledger with other transfers. An audit reads all accounts:
// instead of 10,000 keys it takes the ledger, which no transfer then holds.
atomic Transfer:{ledger?, account(from), account(to)};
atomic Audit:{ledger};
