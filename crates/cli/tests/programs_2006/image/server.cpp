// The functions of the image server of Figure 2, where an image is a row of pixels and compressing it counts them.
#include <string>
#include "mImpl.h"
using namespace std;

#define ENTRIES 8

image_tag *cache[ENTRIES];
int listener;

void init(int argc, char *argv[])
{
    struct sockaddr_in address = {0};
    int yes = 1;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(int));
    address.sin_family = AF_INET;
    address.sin_port = htons(atoi(argv[1]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) == -1 || listen(listener, 50) == -1)
        exit(1);
}

int Listen(Listen_out *out)
{
    if ((out->socket = accept(listener, NULL, NULL)) < 0)
        return 1;
}

int ReadRequest(ReadRequest_in *in, ReadRequest_out *out)
{
    char line[256];
    int n = read(in->socket, line, sizeof(line) - 1);
    if (n <= 0) {
        close(in->socket);
        return -1;
    }
    line[n] = 0;
    out->request = (image_tag *)calloc(1, sizeof(image_tag));
    sscanf(line, "GET /%63s", out->request->name);
    out->socket = in->socket;
    out->close = true;
    return 0;
}

int CheckCache(CheckCache_in *in, CheckCache_out *out)
{
    out->socket = in->socket;
    out->close = in->close;
    out->request = in->request;
    for (int i = 0; i < ENTRIES; i++) {
        if (cache[i] && strcmp(cache[i]->name, in->request->name) == 0) {
            free(in->request);
            out->request = cache[i];
            out->request->references++;
            return 0;
        }
    }
}

bool TestInCache(image_tag *request)
{
    return request->jpeg != NULL;
}

int ReadInFromDisk(ReadInFromDisk_in *in, ReadInFromDisk_out *out)
{
    string path = string(in->request->name) + ".ppm";
    FILE *file = fopen(path.c_str(), "rb");
    if (!file)
        return ENOENT;
    out->rgb_data = (__u8 *)calloc(1, 1024);
    fread(out->rgb_data, 1, 1023, file);
    fclose(file);
    out->socket = in->socket;
    out->close = in->close;
    out->request = in->request;
}

int Compress(Compress_in *in, Compress_out *out)
{
    in->request->jpeg = (__u8 *)malloc(32);
    in->request->size = sprintf((char *)in->request->jpeg, "%d pixels", (int)strlen((char *)in->rgb_data));
    free(in->rgb_data);
    out->socket = in->socket;
    out->close = in->close;
    out->request = in->request;
    return 0;
}

int StoreInCache(StoreInCache_in *in, StoreInCache_out *out)
{
    int slot = 0;
    while (slot < ENTRIES - 1 && cache[slot] && cache[slot]->references > 0)
        slot++;
    in->request->references = 1;
    cache[slot] = in->request;
    memcpy(out, &in->socket, sizeof(*out));
}

int Write(Write_in *in, Write_out *out)
{
    write(in->socket, in->request->jpeg, in->request->size);
    out->socket = in->socket;
    out->close = in->close;
    out->request = in->request;
    return 0;
}

int Complete(Complete_in *in)
{
    in->request->references--;
    if (in->close)
        close(in->socket);
}

void FourOhFor(ReadInFromDisk_in *in, int err)
{
    char text[64];
    sprintf(text, "404: error %d", err);
    write(in->socket, text, strlen(text));
    close(in->socket);
    free(in->request);
}

int Image(Image_in *in)
{
    return 0;
}

int Handler(Handler_in *in, Handler_out *out)
{
    return 0;
}
