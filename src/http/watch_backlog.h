// How much of a stream the handler has handed over and the connection has not sent yet. The executor adds, the
// connection's thread subtracts. Above the pause limits the handler pauses until the backlog is at most half of them.
#pragma once

#include <atomic>
#include <cstddef>

#include "http/limits.h"

namespace berth::http {

class WatchBacklog {
 public:
  // On the executor. False: pause until sent() returns true.
  bool add(std::size_t bytes) {
    bytes_ += bytes;
    ++events_;
    if (bytes_ < kPauseWatchBytes && events_ < kPauseWatchEvents) return true;
    paused_ = true;
    // A sent() that ran before `paused_` was set did not see the pause, so check again here.
    return has_room() && paused_.exchange(false);
  }
  bool too_much() const { return bytes_ > kMaxWatchBacklogBytes || events_ > kMaxWatchBacklogEvents; }

  // On the connection's thread. Returns true once when the handler has paused and may go on.
  bool sent(std::size_t bytes, std::size_t events) {
    bytes_ -= bytes;
    events_ -= events;
    return has_room() && paused_.exchange(false);
  }

 private:
  bool has_room() const { return bytes_ <= kPauseWatchBytes / 2 && events_ <= kPauseWatchEvents / 2; }

  std::atomic<std::size_t> bytes_{0}, events_{0};
  std::atomic<bool> paused_{false};
};

}  // namespace berth::http
