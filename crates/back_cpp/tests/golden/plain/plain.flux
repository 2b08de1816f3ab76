// A shop whose functions are plain ones, but for one.
include "plain.h";

Ask () => (int number);
Find (int number) => (item wanted);
Price (item wanted) => (item wanted, long cents);
Label (item wanted, long cents) => (std::string text);
Print (std::string text) => ();
Check (item wanted) => (item wanted);
Old (item wanted, long cents) => (item wanted, long cents);

source Ask {session: Who} => Sale;
Sale (int number) => ();
Sale = Find -> Check -> Price -> Discount -> Old -> Label -> Print;
Discount (item wanted, long cents) => (item wanted, long cents);
typedef dear IsDear;
Discount:[_, dear] = Lower;
Discount:[_, _] = ;
Lower (item wanted, long cents) => (item wanted, long cents);
handle error Find => NotThere;
atomic Find:{shelf(session)};
handle error Print => Unprinted;
