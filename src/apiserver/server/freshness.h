// Requests that ask for a version of the future wait a moment for it.
#pragma once

#include <functional>
#include <map>

#include "apiserver/storage/store.h"
#include "base/executor.h"

namespace berth::apiserver {

class Freshness {
 public:
  explicit Freshness(Executor& executor) : executor_(executor) {}
  ~Freshness();
  Freshness(const Freshness&) = delete;
  Freshness& operator=(const Freshness&) = delete;

  // `done` is called once: with true as soon as `revision` is durable, with false when that takes longer than
  // three seconds, as long as the API server waits. Returns a number for cancel().
  std::uint64_t wait(Revision revision, std::function<void(bool)> done);
  void cancel(std::uint64_t id);
  void advance(Revision durable);
  void abandon();  // tells all who wait that it took too long

 private:
  struct Waiting {
    TimerId timer = 0;
    std::function<void(bool)> done;
  };
  Executor& executor_;
  std::map<std::pair<Revision, std::uint64_t>, Waiting> waiting_;  // bounded by the requests in flight
  std::uint64_t last_id_ = 0;
};

}  // namespace berth::apiserver
