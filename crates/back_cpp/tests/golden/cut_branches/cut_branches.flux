// Parallel steps with more paths than a number can hold: the path of each branch is counted by itself.
source Start => Both;

Start () => (int value);
Even (int value) => (int value);
Odd (int value) => (int value);
typedef even IsEven;

Either (int value) => (int value);
Either:[even] = Even;
Either:[_] = Odd;

Square_2 = Either -> Either;
Square_4 = Square_2 -> Square_2;
Square_8 = Square_4 -> Square_4;
Square_16 = Square_8 -> Square_8;
Both = (Square_16 & Square_16 & Square_16) -> Finish;
Finish (int first, int second, int third) => ();
