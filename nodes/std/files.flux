// Files of one folder, for those who may ask for any path in it and none outside.

include "flux/connection.hpp";
include "string";

// All of the file at `path` below the folder `root`. Fails with ENOENT where there is none, and where the path, or a
// symbolic link on it, leads out of the folder. The connection is that of whoever asks, and
// goes on with the content.
Load (const char *root, flux::connection *connection, std::string path) => (flux::connection *connection, std::string content) blocking;
