/// \file
/// What belongs to a flow, as the connections do that it was given or has made: what it still has at its end is ended
/// with it, so nothing that a node forgets stays open.
///
/// The list is linked through what is in it, so it allocates nothing. It is that of a whole flow: what a branch gets
/// belongs to the flow that it is a branch of. A flow that is at no parallel step has its list for itself; its branches
/// may run on several threads, and use it one at a time.
#pragma once

#include "flux/list/intrusive_list.hpp"

#include <cstddef>

namespace flux {

/// Something that can belong to a flow.
class belonging : public listed<belonging>
{
  public:
    belonging(const belonging &) = delete;
    belonging &operator=(const belonging &) = delete;

  protected:
    belonging() noexcept = default;
    ~belonging() = default;

  private:
    friend class belongings;

    // The flow that it belongs to has come to its end, and it belongs to nobody. Whether it was forgotten: nobody had
    // said what is to become of it.
    virtual bool flow_has_ended() noexcept = 0;
};

/// All that belongs to one flow.
class belongings
{
  public:
    bool empty() const noexcept { return all_.empty(); }

    /// What belongs to nobody belongs to the flow from now on.
    void add(belonging &own) noexcept { all_.push_front(own); }
    /// It does not any more.
    void remove(belonging &own) noexcept { all_.remove(own); }

    /// As these two, for a branch of the flow.
    void add_by_branch(belonging &own) noexcept;
    void remove_by_branch(belonging &own) noexcept;

    /// The flow has come to its end: how many it has forgotten.
    std::size_t end() noexcept;

  private:
    intrusive_list<belonging> all_;
};

} // namespace flux
