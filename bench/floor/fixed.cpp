// The node of fixed.flux.
#include "fixed.flux.h"

#include <unistd.h>

namespace {

constexpr std::size_t answer_size = 1024;

std::string made_here()
{
    std::string answer = "thread " + std::to_string(gettid()) + ".";
    answer.resize(answer_size, 'a');
    return answer;
}

} // namespace

// The other side has ended where there are no bytes.
int Answer(Answer_in *in, Answer_out *out)
{
    thread_local const std::string answer = made_here();
    out->connection = in->connection;
    if (!in->bytes.empty()) {
        out->bytes = answer;
    }
    return 0;
}
