// Files of one folder, for those who may ask for any path in it and none outside.

include "string";

// All of the file at `path` below the folder `root`. Fails with ENOENT where there is none, and where the path, or a
// symbolic link on it, leads out of the folder. The socket is whoever asks, and goes on with the content.
Load (const char *root, int socket, std::string path) => (int socket, std::string content) blocking;
