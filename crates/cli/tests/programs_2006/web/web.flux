// A web server: one select() over the listener and all connections, kept alive from request to request.

// what the source does, again and again
GetClients () => (fd_set *clients);
SelectSockets (fd_set *clients) => (int socket);
Listen () => (int socket);

ReadRequest (int socket) => (int socket, bool close, char*path);
ReadWrite (int socket, bool close, char* path) => (int socket, bool close, char *path);
SendFile (int socket, bool close, char *path) => (int socket, bool close, char *path);
SendPage (int socket, bool close, char *path) => (int socket, bool close, char *path);
Complete (int socket, bool close, char *path) => ();
Page (int socket) => ();

source Listen => Page;
Listen = GetClients -> SelectSockets;

Page = ReadRequest -> ReadWrite -> Complete;

typedef file IsFile;
typedef hello IsHello;
ReadWrite:[_, _, hello] = SendPage;
ReadWrite:[*, *, file] = SendFile;

handle error ReadRequest => Close;
handle error ReadWrite => FourOhFour;

atomic GetClients:{clients};
atomic Complete:{clients};
