// Accounts in a state, which clients move money between, a line for each request:
//
//     put 7 0 100      account 7 has 100 cents
//     move 7 8 30      30 cents go from 7 to 8, where there are both
//     sum 0 0 0        what all accounts have together
use std.tcp;

option listen : string = "127.0.0.1:0";

state accounts (uint32 account) => (int64 cents);

typedef putting (text verb) { verb == "put" };
typedef moving (text verb) { verb == "move" };

source tcp.Listen(listen) => Serve;

Serve = tcp.ReadLine(100) -> Parse -> Act -> tcp.SendLine -> tcp.Return;
handle error tcp.ReadLine => tcp.Close;

Parse (text line) => (text verb, uint32 from, uint32 to, int64 amount);

Act (text verb, uint32 from, uint32 to, int64 amount) => (text line);
Act:[putting, _, _, _] = accounts.upsert(account: from, cents: amount) -> Fine;
Act:[moving, _, _, _] = Transfer;
Act:[_, _, _, _] = accounts.all -> Sum;
handle error Transfer => Refuse;

Transfer (uint32 from, uint32 to, int64 amount) => (text line);
Transfer = Move -> Fine;

// Both accounts are held together; where there is no second one, the first has its money again.
Move (uint32 from, uint32 to, int64 amount) => ();
Move = accounts.get(account: from) -> Less -> accounts.update(account: from)
  -> accounts.get(account: to) -> More -> accounts.update(account: to);
atomic Move:{accounts(from), accounts(to)};
Less (int64 cents, int64 amount) => (int64 cents) { cents = cents - amount; };
More (int64 cents, int64 amount) => (int64 cents) { cents = cents + amount; };

Fine () => (text line) { line = "fine"; };
Refuse (uint32 from) => (text line);
Refuse = accounts.get(account: from) -> Left;
Left (int64 cents) => (text line) { line = "no, and there are " + text(cents); };
Sum (map<uint32, int64> accounts) => (text line) { line = text(sum([for k, v in accounts : v])); };
