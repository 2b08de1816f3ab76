/// \file
/// What the headers of the compiler of 2006 brought along, for sources that were written for it. Such sources use the
/// C library, strings and sockets without naming their headers. Nothing else includes this.
///
/// It is read as C++98, and as C of that time. What a source needs of it beyond that the generated Makefile finds out:
/// `FLUX_MORE_HEADERS` brings the headers that may have come along, which have more names that could be the author's,
/// and `FLUX_USING_STD` is for those who use `std` without its name.
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifdef FLUX_MORE_HEADERS
#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#endif

#ifdef __cplusplus

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#ifdef FLUX_MORE_HEADERS
#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <list>
#include <queue>
#include <set>
#include <sstream>
#endif

namespace flux {

/// What a node's inputs named as their session. The runtime of today hands sessions to nobody.
class session;

} // namespace flux

#ifdef FLUX_USING_STD
using namespace std;
#endif

#endif
