// Runs `golden/ways` with the calls failing that its arguments name (`Seek 2` is the second call of Seek), and prints
// how it ended, the path number, and what was called.
#define main generated_main
#include "ways.flux.cpp"
#undef main

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

namespace {

// The calls that fail, and how often each function has been called.
std::set<std::pair<std::string, int>> failing;
std::map<std::string, int> calls;

constexpr int request = 1000;
constexpr int code = 7;

bool fails(const char *function)
{
    return failing.contains({function, ++calls[function]});
}

// Every node counts on, so that a value that goes astray is seen.
template <class In, class Out>
int step(const char *function, In *in, Out *out)
{
    if (fails(function)) {
        in->request = -1;
        return code;
    }
    out->request = in->request + 1;
    return 0;
}

// A function sees what a node has made of its inputs, and what an abstract node was given.
template <class In>
void handle(const char *function, const In *in, int error)
{
    const bool is_abstract = std::is_same_v<In, Load_in> || std::is_same_v<In, Answer_in>;
    const bool is_right = is_abstract ? in->request >= request : in->request == -1;
    if (!is_right || error == 0) {
        std::printf("WRONG: %s is given %d and the error %d\n", function, in->request, error);
    }
    if (fails(function)) {
        throw std::runtime_error("as told");
    }
}

} // namespace

int Receive(Receive_out *out)
{
    out->request = request;
    return 0;
}

int Cache(Cache_in *in, Cache_out *out)
{
    return step("Cache", in, out);
}

int Disk(Disk_in *in, Disk_out *out)
{
    return step("Disk", in, out);
}

int Seek(Seek_in *in, Seek_out *out)
{
    return step("Seek", in, out);
}

int Read(Read_in *in, Read_out *out)
{
    return step("Read", in, out);
}

int Again(Again_in *in, Again_out *out)
{
    return step("Again", in, out);
}

int Send(Send_in *in)
{
    if (in->request != request + 6) {
        std::printf("WRONG: Send is given %d\n", in->request);
    }
    return fails("Send") ? code : 0;
}

void Miss(Seek_in *in, int error)
{
    handle("Miss", in, error);
}

void NotFound(Seek_in *in, int error)
{
    handle("NotFound", in, error);
}

void GiveUp(Again_in *in, int error)
{
    handle("GiveUp", in, error);
}

void SpinUp(Disk_in *in, int error)
{
    handle("SpinUp", in, error);
}

void Replace(Disk_in *in, int error)
{
    handle("Replace", in, error);
}

void Never(Load_in *in, int error)
{
    handle("Never", in, error);
}

void Apologise(Answer_in *in, int error)
{
    handle("Apologise", in, error);
}

int main(int count, char **words)
{
    for (int at = 1; at + 1 < count; at += 2) {
        failing.emplace(words[at], std::atoi(words[at + 1]));
    }
    flux::flow flow;
    Receive_out values;
    static_cast<void>(flux_flows::Receive_produce(flow, values));
    flow.called.clear();
    const flux::outcome exit = flux_flows::Receive_run(flow, values);
    std::printf("%d %llu", static_cast<int>(exit), static_cast<unsigned long long>(flow.path));
    for (const flux::node_number node : flow.called) {
        std::printf(" %s", node == flux::flow::error_mark ? "ERROR" : flux_flows::nodes[node].name);
    }
    std::printf("\n");
}
