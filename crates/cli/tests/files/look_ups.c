// A library to preload: logs each look-up of a user, which may read a file or ask a server.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pwd.h>
#include <stdio.h>

int getpwnam_r(const char *name, struct passwd *user, char *room, size_t size, struct passwd **known)
{
    int (*own)(const char *, struct passwd *, char *, size_t, struct passwd **) = dlsym(RTLD_NEXT, "getpwnam_r");
    fprintf(stderr, "looked up %s\n", name);
    return own(name, user, room, size, known);
}
