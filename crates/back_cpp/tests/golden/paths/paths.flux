// More paths than a number can hold: each of these nodes has the square of the paths of the one before.
source Start => Square_64;

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
Square_32 = Square_16 -> Square_16;
Square_64 = Square_32 -> Square_32 -> Finish;
Finish (int value) => ();

// Where a call that saves the path number fails, its fallback joins the way of success.
handle error Square_2 => Odd;
handle error Odd => Complain;
