// Nodes in C++ that answer requests of HTTP.
#pragma once

#include "http.h"

#include <string>

int Stream(bool is_sized, const http::request &request);
int Count(const http::request &request, std::string &content);
int Delete(std::string &content);
int Break();
int Lose();
int Lack();
