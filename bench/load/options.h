// The command line of flux-load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace load {

/// What to do, to whom, for how long.
struct options {
    /// The numeric address of the server.
    std::string host = "127.0.0.1";
    /// Its port.
    std::string port = "8080";
    /// Requests a second in an open loop; 0 in a closed one.
    double rate = 0;
    /// Whether requests of an open loop come at random times, independent of each other (a Poisson process), so many a
    /// second on average.
    bool poisson = false;
    /// A file of the times of an open loop's requests, in seconds from its beginning, one a line in order; in place of
    /// a rate where it has a name.
    std::string arrivals;
    /// Those times.
    std::vector<double> due_s;
    /// A file to write when each request was due and how long it took; none where it has no name.
    std::string each;
    /// Connections in a closed loop, each with one request at a time; 0 in an open one.
    unsigned closed = 0;
    /// The most connections in an open loop.
    unsigned connections = 256;
    /// How long requests are measured, in seconds.
    double duration_s = 10;
    /// How long requests are made before that, in seconds.
    double warmup_s = 0;
    /// When an answer is given up, in seconds after the request was due.
    double timeout_s = 30;
    /// Chooses the targets, and the random times: the same seed, the same requests.
    std::uint64_t seed = 1;
    /// The server's process, to account for its processor time; 0 for none.
    int pid = 0;
    /// Whether a machine other than this one may be loaded.
    bool anywhere = false;
    /// Whether the report is one JSON object.
    bool json = false;
    /// The paths to request, each as likely as any other.
    std::vector<std::string> targets;
};

/// Reads the command line. What is wrong with it, and --help, end the program.
options read_options(int argc, char **argv);

} // namespace load
