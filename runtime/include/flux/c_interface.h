/// \file
/// The interface for nodes that are written in C: connections, the log and time. In the structs of such nodes a
/// connection is a `flux_connection *`, which is what C++ calls `flux::connection *`.
///
/// Functions that can fail give 0, or the number of an error as nodes do: of `errno.h`, or `flux_end_of_input`. What
/// waits lets the flow wait and no other, and fails with ETIMEDOUT or ECANCELED when the flow is to end.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
namespace flux {
class connection;
}
typedef flux::connection flux_connection;
extern "C" {
#else
typedef struct flux_connection flux_connection;
#endif

/// The peer has ended its input where the next request would begin.
extern const int flux_end_of_input;

/// Waits until there are some bytes, and says in `count` how many it has put into `into`: 0 at the end of input.
int flux_receive(flux_connection *from, void *into, size_t size, size_t *count);

/// The next line, without its end and with a zero behind it; `count` says how long it is. EMSGSIZE where it does not
/// fit into `size` bytes with the zero; then the connection is of no more use.
int flux_read_line(flux_connection *from, char *into, size_t size, size_t *count);

/// The next so many bytes.
int flux_read_exactly(flux_connection *from, void *into, size_t size);

/// Sends all of it.
int flux_send(flux_connection *to, const void *bytes, size_t size);

/// Gives it back to its source, which gives it to another flow when it has more input.
int flux_give_back(flux_connection *served);

/// Ends it.
int flux_close(flux_connection *ended);

/// Logs the name of the node, the text and an end of line, formatted as by printf.
__attribute__((format(printf, 1, 2))) void flux_log(const char *format, ...);

/// Lets so many milliseconds pass.
int flux_sleep_ms(long time_ms);

#ifdef __cplusplus
}
#endif
