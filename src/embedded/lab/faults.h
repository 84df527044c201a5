// A client that fails as networks and API servers do. The faults are reproducible from a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "api/rest.h"
#include "base/executor.h"

namespace berth::lab {

// Chances are in thousandths, for each request or event.
struct FaultRates {
  // the request is sent up to max_delay later, as behind a rate limit; not at all once not_sent_from has passed
  int held_back = 0;
  int refused = 0;  // 429 or 500; the request is not carried out. A streaming list gets 500, or 422 as if not offered
  int unknown_outcome = 0;  // the request is carried out, but the answer is lost (code 0)
  int conflict = 0;         // 409 although nothing changed (another writer was first and undid its change)
  int slow = 0;             // the answer takes up to max_delay
  int watch_ends = 0;       // the stream breaks after this event
  int watch_expires = 0;    // 410: this event is lost and the client must list again
  int late = 0;             // this event and the later ones of the watch arrive up to max_delay later
  int repeated = 0;         // this event arrives twice
  Duration max_delay = std::chrono::seconds(3);
};

// A small, fast generator (splitmix64) with the same numbers on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }  // bound > 0
  bool chance(int per_mille) { return below(1000) < static_cast<std::uint64_t>(per_mille); }

 private:
  std::uint64_t state_;
};

class FaultyClient final : public api::RestClient {
 public:
  // Both must outlive the client.
  FaultyClient(api::RestClient& inner, Executor& executor, std::uint64_t seed, FaultRates rates);
  ~FaultyClient() override;

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override;
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override;

  void set_rates(FaultRates rates);
  // `handler` is called before each write is sent, with the write's number (from 1). When it returns false, the write
  // is dropped without an answer, as if the process had died before it.
  void on_write(std::function<bool(std::uint64_t number)> handler);
  // From now on nothing passes in either direction: the process on this side is dead.
  void cut();
  std::uint64_t faults() const;  // so far

 private:
  void send(api::RestRequest request, std::function<void(api::RestResponse)> done);

  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::lab
