// What the nodes of examples/image take and give, written by hand: the header that the flux command generates from
// image.flux, less what only generated code needs. With it the same node sources build without Flux.
#pragma once

#include "image.h"

struct Listen_out {
    int socket;
};

struct ReadRequest_in {
    int socket;
};

struct ReadRequest_out {
    int socket;
    bool close;
    image_tag *request;
};

struct CheckCache_in {
    int socket;
    bool close;
    image_tag *request;
};

struct CheckCache_out {
    int socket;
    bool close;
    image_tag *request;
};

struct ListPictures_in {
    int socket;
    bool close;
    image_tag *request;
};

struct ListPictures_out {
    int socket;
    bool close;
    image_tag *request;
};

struct ReadInFromDisk_in {
    int socket;
    bool close;
    image_tag *request;
};

struct ReadInFromDisk_out {
    int socket;
    bool close;
    image_tag *request;
    __u8 *rgb_data;
};

struct Compress_in {
    int socket;
    bool close;
    image_tag *request;
    __u8 *rgb_data;
};

struct Compress_out {
    int socket;
    bool close;
    image_tag *request;
};

struct StoreInCache_in {
    int socket;
    bool close;
    image_tag *request;
};

struct StoreInCache_out {
    int socket;
    bool close;
    image_tag *request;
};

struct Write_in {
    int socket;
    bool close;
    image_tag *request;
};

struct Write_out {
    int socket;
    bool close;
    image_tag *request;
};

struct Complete_in {
    int socket;
    bool close;
    image_tag *request;
};

struct ServerError_in {
    int socket;
    bool close;
    image_tag *request;
};

struct ServerError_out {
    int socket;
    bool close;
    image_tag *request;
};

struct Abandon_in {
    int socket;
    bool close;
    image_tag *request;
};

struct Abandon_out {
    int socket;
    bool close;
    image_tag *request;
};

int Listen(Listen_out *out);
int ReadRequest(ReadRequest_in *in, ReadRequest_out *out);
int CheckCache(CheckCache_in *in, CheckCache_out *out);
int ListPictures(ListPictures_in *in, ListPictures_out *out);
int ReadInFromDisk(ReadInFromDisk_in *in, ReadInFromDisk_out *out);
int Compress(Compress_in *in, Compress_out *out);
int StoreInCache(StoreInCache_in *in, StoreInCache_out *out);
int Write(Write_in *in, Write_out *out);
int Complete(Complete_in *in);
int ServerError(ServerError_in *in, ServerError_out *out);
int Abandon(Abandon_in *in, Abandon_out *out);

bool TestInCache(image_tag *value);
bool TestListing(image_tag *value);

void BadRequest(ReadRequest_in *in, int error);
void FourOhFour(ReadInFromDisk_in *in, int error);
