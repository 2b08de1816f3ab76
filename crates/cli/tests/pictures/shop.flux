// A shop: fifty nodes, as a real server has them.
include "shop.h";

Listen () => (int socket);
ReadHead (int socket) => (int socket, request *head);
Log (int socket, request *head, reply *answer) => (int socket, request *head, reply *answer);
SendReply (int socket, request *head, reply *answer) => (int socket, bool keep);
Finish (int socket, bool keep) => ();
FindPage (int socket, request *head) => (int socket, request *head, page *found);
Render (int socket, request *head, page *found) => (int socket, request *head, reply *answer);
NotFound (int socket, request *head) => (int socket, request *head, reply *answer);
CheckSession (int socket, request *head) => (int socket, request *head, long user);
LoadCart (int socket, request *head, long user) => (int socket, request *head, long user, cart *cart);
AddItem (int socket, request *head, long user, cart *cart) => (int socket, request *head, long user, cart *cart);
RemoveItem (int socket, request *head, long user, cart *cart) => (int socket, request *head, long user, cart *cart);
SaveCart (int socket, request *head, long user, cart *cart) => (int socket, request *head, long user, cart *cart);
ShowCart (int socket, request *head, long user, cart *cart) => (int socket, request *head, reply *answer);
Price (int socket, request *head, long user, cart *cart)
  => (int socket, request *head, long user, cart *cart, long total);
Reserve (int socket, request *head, long user, cart *cart, long total)
  => (int socket, request *head, long user, cart *cart, long total);
Charge (int socket, request *head, long user, cart *cart, long total)
  => (int socket, request *head, long user, cart *cart, long total);
ChargeLater (int socket, request *head, long user, cart *cart, long total)
  => (int socket, request *head, long user, cart *cart, long total);
Ship (int socket, request *head, long user, cart *cart, long total)
  => (int socket, request *head, long user, cart *cart, long total);
Thank (int socket, request *head, long user, cart *cart, long total) => (int socket, request *head, reply *answer);
Search (int socket, request *head) => (int socket, request *head, list *hits);
Rank (int socket, request *head, list *hits) => (int socket, request *head, list *hits);
RenderHits (int socket, request *head, list *hits) => (int socket, request *head, reply *answer);
LoadImage (int socket, request *head) => (int socket, request *head, image *data);
Scale (int socket, request *head, image *data) => (int socket, request *head, image *data);
Compress (int socket, request *head, image *data) => (int socket, request *head, image *data);
StoreImage (int socket, request *head, image *data) => (int socket, request *head, image *data);
SendImage (int socket, request *head, image *data) => (int socket, request *head, reply *answer);

source Listen => Visit;
Visit = ReadHead -> Answer -> Log -> SendReply -> Finish;

typedef page IsPage;
typedef cart IsCart;
typedef buy IsBuy;
typedef search IsSearch;
typedef image IsImage;
Answer:[_, page] = FindPage -> Render;
Answer:[_, cart] = WithUser -> LoadCart -> Change -> SaveCart -> ShowCart;
Answer:[_, buy] = WithUser -> LoadCart -> Checkout -> Thank;
Answer:[_, search] = Search -> Rank -> RenderHits;
Answer:[_, image] = Image -> SendImage;
Answer:[_, _] = NotFound;

WithUser = CheckSession;
typedef adds IsAdd;
typedef removes IsRemove;
Change:[_, adds, _, _] = AddItem;
Change:[_, removes, _, _] = RemoveItem;
Change:[_, _, _, _] = ;

Checkout = Price -> Reserve -> Pay -> Ship;
typedef large IsLarge;
Pay:[_, _, _, _, large] = ChargeLater;
Pay:[_, _, _, _, _] = Charge;

ImageCache (int socket, request *head) => (int socket, request *head, image *data);
Lookup (int socket, request *head) => (int socket, request *head, image *data);
Image = ImageCache;
ImageCache = Lookup -> Fill;
typedef cached IsCached;
Fill:[_, _, cached] = ;
Fill:[_, _, _] = Drop -> LoadImage -> Scale -> Compress -> StoreImage;
Drop (int socket, request *head, image *data) => (int socket, request *head);

handle error ReadHead => BadRequest;
handle error Answer => ServerError;
handle error SendReply => HangUp;
handle error Charge => Declined;
handle error Reserve => OutOfStock;
handle error LoadImage => NoImage;

ServerError (int socket, request *head) => (int socket, request *head, reply *answer);

// The back office.
source every 30s => Housekeeping;
ExpireCarts () => ();
RestockReport () => ();
RotateLogs () => ();
Housekeeping = ExpireCarts -> RestockReport -> RotateLogs;

WarehouseListen () => (int socket);
ReadDelivery (int socket) => (int socket, delivery *what);
Book (int socket, delivery *what) => (int socket, delivery *what);
Notify (int socket, delivery *what) => (int socket, delivery *what);
Reindex (int socket, delivery *what) => (int socket, delivery *what);
Confirm (int socket, delivery *what, int socket2, delivery *what2) => ();
source WarehouseListen => Delivery;
Delivery = ReadDelivery -> Book -> (Notify & Reindex) -> Confirm;
handle error ReadDelivery => BadDelivery;

atomic FindPage:{pages};
atomic Reserve:{stock};
atomic Book:{stock};
atomic RestockReport:{stock?};
atomic Search:{index?};
atomic Reindex:{index};
atomic Lookup:{images};
atomic StoreImage:{images};
atomic LoadCart:{carts?};
atomic SaveCart:{carts};
atomic ExpireCarts:{carts};
atomic Charge:{account(user)};
atomic Log:{logfile};
atomic RotateLogs:{logfile};
