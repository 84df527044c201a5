// Lets a request wait for a short time until the revision that it asks for exists.
#pragma once

#include <functional>
#include <map>

#include "base/executor.h"
#include "embedded/apiserver/storage/store.h"

namespace berth::apiserver {

class Freshness {
 public:
  explicit Freshness(Executor& executor) : executor_(executor) {}
  ~Freshness();
  Freshness(const Freshness&) = delete;
  Freshness& operator=(const Freshness&) = delete;

  // Calls `done` once: with true as soon as `revision` is durable, or with false after three seconds, which is also
  // how long kube-apiserver waits. Returns an id for cancel().
  std::uint64_t wait(Revision revision, std::function<void(bool)> done);
  void cancel(std::uint64_t id);
  void advance(Revision durable);
  void abandon();  // calls every waiting `done` with false

 private:
  struct Waiting {
    TimerId timer = 0;
    std::function<void(bool)> done;
  };
  Executor& executor_;
  std::map<std::pair<Revision, std::uint64_t>, Waiting> waiting_;  // bounded by the number of requests in flight
  std::uint64_t last_id_ = 0;
};

}  // namespace berth::apiserver
