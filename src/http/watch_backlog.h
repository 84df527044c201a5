// How much of a stream its handler has handed over and its connection has not sent: between the executor, which adds, and the
// connection's thread, which takes away. When enough waits the handler pauses until half of that is left.
#pragma once

#include <atomic>
#include <cstddef>

#include "http/limits.h"

namespace berth::http {

class WatchBacklog {
 public:
  // On the executor. False: pause until sent() says that there is room.
  bool add(std::size_t bytes) {
    bytes_ += bytes;
    ++events_;
    if (bytes_ < kPauseWatchBytes && events_ < kPauseWatchEvents) return true;
    paused_ = true;
    // What was sent since then saw nobody pausing, and will not say that there is room.
    return has_room() && paused_.exchange(false);
  }
  bool too_much() const { return bytes_ > kMaxWatchBacklogBytes || events_ > kMaxWatchBacklogEvents; }

  // On the connection's thread. True, once: there is room, and the handler paused for want of it.
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
