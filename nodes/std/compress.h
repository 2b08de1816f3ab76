// The nodes that compress.
#pragma once

#include "files.h"
#include "http.h"

#include <cstddef>
#include <string>

namespace compress {

int Choose(const char *codings, std::size_t least, const char *types, int gzip, int brotli, int zstd, long fresh_ms,
           const http::request &request, const files::file &file, files::file &chosen);
int Code(const char *codings, std::size_t least, const char *types, int gzip, int brotli, int zstd, long fresh_ms,
         const http::request &request, const http::response &response, http::response &coded);
int Gzip(int level, const std::string &content, std::string &coded);
int Brotli(int level, const std::string &content, std::string &coded);
int Zstd(int level, const std::string &content, std::string &coded);

} // namespace compress
