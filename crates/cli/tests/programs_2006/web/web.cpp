// The nodes of the web server, as they would have been written in 2006.
#include "mImpl.h"

#define MAX_REQUEST 4096

int server;
bool connected[FD_SETSIZE];
fd_set sockets;

void init(int argc, char **argv)
{
    struct sockaddr_in address;
    int yes = 1;

    server = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_port = htons(argc > 1 ? atoi(argv[1]) : 8080);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(server, (struct sockaddr *)&address, sizeof(address)) < 0) {
        perror("bind");
        exit(1);
    }
    listen(server, 100);
    connected[server] = true;
}

int GetClients(GetClients_out *out)
{
    FD_ZERO(&sockets);
    for (int i = 0; i < FD_SETSIZE; i++)
        if (connected[i])
            FD_SET(i, &sockets);
    out->clients = &sockets;
    // and that is all
}

int SelectSockets(SelectSockets_in *in, SelectSockets_out *out)
{
    struct timeval timeout;
    timeout.tv_sec = 0;
    timeout.tv_usec = 20000;
    if (select(FD_SETSIZE, in->clients, NULL, NULL, &timeout) <= 0)
        return -1;
    for (register int i = 0; i < FD_SETSIZE; i++) {
        if (!FD_ISSET(i, in->clients))
            continue;
        if (i == server) {
            out->socket = accept(server, NULL, NULL);
            return out->socket < 0;
        }
        connected[i] = false;
        out->socket = i;
        return 0;
    }
    return -1;
}

int Listen(Listen_in *in, Listen_out *out)
{
    return 0;
}

int ReadRequest(ReadRequest_in *in, ReadRequest_out *out)
{
    char request[MAX_REQUEST];
    int length = read(in->socket, request, MAX_REQUEST - 1);
    if (length <= 0)
        return -1;
    request[length] = 0;
    out->socket = in->socket;
    out->close = strstr(request, "Connection: close") != NULL;
    out->path = (char *)malloc(MAX_REQUEST);
    if (sscanf(request, "GET %s HTTP", out->path) != 1)
        return 1;
    return 0;
}

int ReadWrite(ReadWrite_in *in, ReadWrite_out *out)
{
    return 0;
}

int Page(Page_in *in)
{
}

bool IsFile(const char *path)
{
    return access(path + 1, R_OK) == 0;
}

bool IsHello(char *path)
{
    return strcmp(path, "/hello") == 0;
}

static void Reply(int socket, const char *status, const char *text, int length)
{
    char header[256];
    sprintf(header, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n", status, length);
    write(socket, header, strlen(header));
    write(socket, text, length);
}

int SendPage(SendPage_in *in, SendPage_out *out)
{
    string text = "hello, 2006\n";
    Reply(in->socket, "200 OK", text.c_str(), text.size());
    out->socket = in->socket;
    out->close = in->close;
    out->path = in->path;
}

int SendFile(SendFile_in *in, SendFile_out *out)
{
    char *text = (char *)malloc(65536);
    FILE *file = fopen(in->path + 1, "r");
    if (file == NULL)
        return 404;
    int length = fread(text, 1, 65536, file);
    fclose(file);
    Reply(in->socket, "200 OK", text, length);
    free(text);
    out->socket = in->socket;
    out->close = in->close;
    out->path = in->path;
    return 0;
}

int Complete(Complete_in *in)
{
    free(in->path);
    if (in->close)
        close(in->socket);
    else
        connected[in->socket] = true;
    printf("done with %d\n", in->socket);
}

void FourOhFour(ReadWrite_in *in, int err)
{
    Reply(in->socket, "404 Not Found", "no\n", 3);
    free(in->path);
    close(in->socket);
}

int Close(ReadRequest_in *in, int err)
{
    close(in->socket);
}
