/// \file
/// The pages of a server's admin interface, which `docs/admin.md` describes. All of them are made when they are asked
/// for, of what the server counts in any case, so a server that nobody asks pays nothing for them.
#pragma once

#include "flux/admin/admin_request.hpp"
#include "flux/admin/admin_server.hpp"
#include "flux/flow/program.hpp"
#include "flux/insight/path_graph.hpp"
#include "flux/server/running_server.hpp"
#include "flux/strategy/stragglers.hpp"

#include <atomic>
#include <string>

namespace flux {

/// How far a server has come: it listens where it is to, it has been asked to end.
enum class server_phase : unsigned char { starts, serves, ends };

/// The pages of one server.
class admin_pages_of_server
{
  public:
    /// All of these outlive it; `strategy` is the name of what runs the flows. Throws `std::bad_alloc`.
    admin_pages_of_server(const program &of, running_server &server, const char *strategy,
                          const std::atomic<server_phase> &phase);

    /// The answer to a request. For one thread. Throws `std::bad_alloc`.
    admin_answer answer(const admin_request &request);

  private:
    admin_answer health(const admin_request &);
    admin_answer profile(const admin_request &);
    admin_answer report(const admin_request &);
    admin_answer metrics(const admin_request &);
    admin_answer log(const admin_request &);
    admin_answer flows(const admin_request &);
    admin_answer graph(const admin_request &);
    admin_answer graph_data(const admin_request &);
    admin_answer index(const admin_request &);
    run_facts facts_so_far();

    struct page;
    static const page all_pages[];

    const program &program_;
    running_server &server_;
    const char *const strategy_;
    const std::atomic<server_phase> &phase_;
    const path_graph graph_;
    // Whom the last requests for flows have seen, and since when.
    stragglers seen_;
};

} // namespace flux
