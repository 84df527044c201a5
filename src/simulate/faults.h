// A connection that misbehaves as networks and API servers do, reproducibly from a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "api/rest.h"
#include "base/executor.h"

namespace berth::simulate {

// Chances are in thousandths, of every request or event.
struct FaultRates {
  int held_back = 0;        // the request goes out up to max_delay later, as behind a rate limit, if it still may
  int refused = 0;          // 429 or 500; the request was not carried out. Of lists as streams: 500, or 422 as if never offered
  int unknown_outcome = 0;  // carried out, the answer is lost (code 0)
  int conflict = 0;         // 409 though nothing changed (another writer was first and undid it)
  int slow = 0;             // the answer takes up to max_delay
  int watch_ends = 0;       // the stream breaks after this event
  int watch_expires = 0;    // 410: this event is lost and the client has to list again
  int late = 0;             // this event and those behind it come up to max_delay later
  int repeated = 0;         // this event comes twice
  Duration max_delay = std::chrono::seconds(3);
};

// Small, fast, the same everywhere.
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
  // Called before each write is sent on, with its number (from 1). Returning false loses it: as if the
  // process died before.
  void on_write(std::function<bool(std::uint64_t number)> handler);
  // From now on nothing arrives any more, in either direction: the process on this side is dead.
  void cut();
  std::uint64_t faults() const;  // so far

 private:
  void send(api::RestRequest request, std::function<void(api::RestResponse)> done);

  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::simulate
