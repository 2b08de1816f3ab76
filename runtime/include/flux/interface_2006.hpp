/// \file
/// What the headers of the compiler of 2006 brought along, for sources that were written for it. Such sources use the
/// C library, strings and sockets without naming their headers. Some use `std` without its name, and for these the
/// generated Makefile defines `FLUX_USING_STD`. Nothing else includes this.
///
/// It is read as C++14, the last to allow what that time used: `register`, exception specifications, `auto_ptr`.
#pragma once

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <iostream>
#include <map>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace flux {

/// What a node's inputs named as their session. The runtime of today hands sessions to nobody.
class session;

} // namespace flux

#ifdef FLUX_USING_STD
using namespace std;
#endif
