// Runs `golden/mail` with every combination of failing nodes and every kind of mail, and prints for each run how it
// ended, the path number, and what was called. What a node is given and holds is checked here.
#define main generated_main
#include "mail.flux.cpp"
#undef main

#include <cstdio>
#include <stdexcept>

namespace {

enum failing : unsigned {
    Lookup_fails = 1,
    LookupInCache_fails = 2,
    Guess_fails = 4,
    Connect_fails = 8,
    Split_fails = 16,
    Send_fails = 32,
    File_fails = 64,
    StoreForLater_fails = 128,
    Close_fails = 256,
    Bounce_fails = 512,
    all_of_them = 1023,
};

// What this run is like.
unsigned failures;
bool by_throwing;
std::string kind;
flux::flow *running;

const std::string address = "an address that is too long to be kept inside of a string";

std::vector<char> text()
{
    return {kind.begin(), kind.end()};
}

void require(bool condition, const char *what)
{
    if (!condition) {
        std::printf("WRONG: %s, with failures %u, kind %s\n", what, failures, kind.c_str());
    }
}

void require_held(const std::vector<std::string> &held, const char *what)
{
    std::vector<std::string> names;
    for (const auto &[number, how] : running->held) {
        const char *const name = flux_flows::constraints[number].name;
        names.push_back(std::string(name) + (how == flux::mode::read ? "?" : ""));
    }
    require(names == held, what);
}

// A node that fails leaves its inputs and outputs in disorder first.
template <class In, class Out>
bool fails(failing bit, In *in, Out *out)
{
    if ((failures & bit) == 0) {
        return false;
    }
    *in = In{};
    *out = Out{};
    if (by_throwing) {
        throw std::runtime_error("as told");
    }
    return true;
}

constexpr int code = 7;

int expected_code()
{
    return by_throwing ? flux::exception_thrown : code;
}

} // namespace

int Receive(Receive_out *out)
{
    *out = {address, text()};
    return 0;
}

int Lookup(Lookup_in *in, Lookup_out *out)
{
    require(in->address == address && in->text == text(), "inputs of Lookup");
    require_held({"hosts?"}, "held by Lookup");
    if (fails(Lookup_fails, in, out)) {
        return code;
    }
    *out = {kind, std::move(in->text)};
    return 0;
}

int LookupInCache(LookupInCache_in *in, LookupInCache_out *out)
{
    require(in->address == address && in->text == text(), "inputs of LookupInCache");
    require(in->error == expected_code(), "error of LookupInCache");
    require_held({"cache?", "hosts?"}, "held by LookupInCache");
    if (fails(LookupInCache_fails, in, out)) {
        return code;
    }
    *out = {kind, std::move(in->text)};
    return 0;
}

int Guess(Guess_in *in, Guess_out *out)
{
    require(in->address == address && in->text == text(), "inputs of Guess");
    require_held({"cache", "hosts"}, "held by Guess");
    if (fails(Guess_fails, in, out)) {
        return code;
    }
    *out = {kind, std::move(in->text)};
    return 0;
}

void Bounce(Guess_in *in, int error)
{
    // A function sees what the node has made of its inputs, and Guess has cleared them.
    require(in->address == Guess_in{}.address && in->text.empty(), "inputs of Bounce");
    require(error == expected_code(), "error of Bounce");
    require_held({}, "held by Bounce");
    if ((failures & Bounce_fails) != 0) {
        throw std::runtime_error("as told");
    }
}

int Connect(Connect_in *in, Connect_out *out)
{
    require(in->host == kind && in->text == text(), "inputs of Connect");
    require_held({"queue?"}, "held by Connect");
    if (fails(Connect_fails, in, out)) {
        return code;
    }
    *out = {1, std::move(in->text)};
    return 0;
}

int Split(Split_in *in, Split_out *out)
{
    require(in->socket == 1 && in->text == text(), "inputs of Split");
    if (fails(Split_fails, in, out)) {
        return code;
    }
    *out = {2, std::move(in->text)};
    return 0;
}

int Send(Send_in *in, Send_out *out)
{
    require(in->socket == (kind == "large" ? 2 : 1) && in->text == text(), "inputs of Send");
    if (fails(Send_fails, in, out)) {
        return code;
    }
    out->socket = 3;
    return 0;
}

int File(File_in *in, File_out *out)
{
    require(std::string(in->folder) == "inbox" && in->host == kind && in->text == text(), "inputs of File");
    if (fails(File_fails, in, out)) {
        return code;
    }
    out->socket = 3;
    return 0;
}

int StoreForLater(StoreForLater_in *in, StoreForLater_out *out)
{
    require(in->host == kind && in->text == text(), "inputs of StoreForLater");
    require_held({}, "held by StoreForLater");
    if (fails(StoreForLater_fails, in, out)) {
        return code;
    }
    out->socket = 3;
    return 0;
}

int Close(Close_in *in)
{
    require(in->socket == 3, "inputs of Close");
    require_held({"log"}, "held by Close");
    Close_in nothing;
    return fails(Close_fails, in, &nothing) ? code : 0;
}

bool IsLocal(std::string host)
{
    if (host == "strange") {
        throw std::runtime_error("as told");
    }
    return host == "local";
}

bool IsSmall(std::vector<char> value)
{
    return value == std::vector<char>{'s', 'm', 'a', 'l', 'l'};
}

bool IsLarge(std::vector<char> value)
{
    return value == std::vector<char>{'l', 'a', 'r', 'g', 'e'};
}

namespace {

void run()
{
    flux::flow flow;
    running = &flow;
    Receive_out values;
    require(flux_flows::Receive_produce(flow, values) == flux::outcome::done, "outcome of Receive");
    flow.called.clear();
    const flux::outcome exit = flux_flows::Receive_run(flow, values);
    require_held({}, "held at the end");
    std::printf("%d %llu", static_cast<int>(exit), static_cast<unsigned long long>(flow.path));
    for (const flux::node_number node : flow.called) {
        std::printf(" %s", node == flux::flow::error_mark ? "ERROR" : flux_flows::nodes[node].name);
    }
    std::printf("\n");
}

} // namespace

int main()
{
    for (const char *one : {"local", "small", "large", "neither", "strange"}) {
        kind = one;
        for (const bool throwing : {false, true}) {
            by_throwing = throwing;
            for (failures = 0; failures <= all_of_them; ++failures) {
                run();
            }
        }
    }
}
