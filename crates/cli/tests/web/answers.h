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
void Throw(std::string &said);
void Recovered(std::string &content);
int Code(std::string &said);
void Item(const std::string &word, std::string &said);
void Clumsy(std::string &content);
void Clumsier(std::string &content);
void Long(std::string &content);
void Number(std::string &content);
void Block(std::string &content);
void Remembered(std::string &content);
void Tell(const std::string &error_node, const std::string &error_text, std::string &content);
bool IsThrowing(const std::string &path);
