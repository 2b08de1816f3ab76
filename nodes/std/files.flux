// Reads files of one folder. Paths cannot lead out of the folder.

include "flux/connection.hpp";
include "string";

// The content of the file at `path` below the folder `root`. Fails with ENOENT if the file does not exist, or if the
// path or a symbolic link on it leads out of the folder. The connection of the client is passed on.
Load (const char *root, flux::connection *connection, std::string path) => (flux::connection *connection, std::string content) blocking;
