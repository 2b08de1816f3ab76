// The nodes of calls.flux.
#pragma once

#include "channels.h"
#include "http.h"

#include <string>

int Take(const http::request &request, flux::message &reply, flux::connection *&connection);
int Drop(flux::connection *connection);
int Call(const http::request &request, const files::file &file, const std::string &path, std::string &content);
int CallToo(const http::request &request, const files::file &file, const std::string &path, std::string &content);
