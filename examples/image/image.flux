// The image server of the paper (section 2, Figure 2), with the nodes that are left out there and a list of the
// pictures at "/". README.md says how to run it.
include "image.h";

// concrete node signatures
Listen () => (int socket);
ReadRequest (int socket) => (int socket, bool close, image_tag *request);
CheckCache (int socket, bool close, image_tag *request)
  => (int socket, bool close, image_tag *request);
ListPictures (int socket, bool close, image_tag *request)
  => (int socket, bool close, image_tag *request);
ReadInFromDisk (int socket, bool close, image_tag *request)
  => (int socket, bool close, image_tag *request, __u8 *rgb_data);
Compress (int socket, bool close, image_tag *request, __u8 *rgb_data)
  => (int socket, bool close, image_tag *request);
StoreInCache (int socket, bool close, image_tag *request)
  => (int socket, bool close, image_tag *request);
Write (int socket, bool close, image_tag *request)
  => (int socket, bool close, image_tag *request);
Complete (int socket, bool close, image_tag *request) => ();

// what stands in for a node that failed
ServerError (int socket, bool close, image_tag *request)
  => (int socket, bool close, image_tag *request);
Abandon (int socket, bool close, image_tag *request)
  => (int socket, bool close, image_tag *request);

// source node
source Listen => Image;

// abstract node
Image = ReadRequest -> CheckCache -> Handler -> Write -> Complete;

// predicate types & dispatch
typedef hit TestInCache;
typedef listing TestListing;
Handler:[_, _, hit] = ;
Handler:[_, _, listing] = ListPictures;
Handler:[_, _, _] = ReadInFromDisk -> Compress -> StoreInCache;

// error handlers: the first two answer and end the flow; the others let it go on to Complete, which gives back what the
// flow holds of the cache and of the connection
handle error ReadRequest => BadRequest;
handle error ReadInFromDisk => FourOhFour;
handle error Handler => ServerError;
handle error Write => Abandon;

// atomicity constraints
atomic CheckCache:{cache};
atomic StoreInCache:{cache};
atomic Complete:{cache};
