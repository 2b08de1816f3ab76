// What the nodes of words.flux do.
#pragma once

#include <string>

int Rest(std::string line, std::string &out);
int Check(std::string line, std::string &out);
void Excuse(const std::string &line, int error, std::string &out);
void Count(std::string line, std::string &out);
