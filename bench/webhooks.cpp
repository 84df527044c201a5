// Reviews per second of a webhook server over HTTPS on loopback, with open and with new connections, and the time to
// compute an answer alone.
#include <benchmark/benchmark.h>

#include <atomic>
#include <thread>

#include "serve/reviews.h"
#include "serve/served.h"
#include "support/https_client.h"

namespace berth::serve {
namespace {

using testing_support::HttpsClient;

constexpr int kClients = 4;  // the number of connections that an API server keeps busy on a small machine
constexpr const char* kPath = "/mutate-batch-v1-job?timeout=10s";

void review_alone(benchmark::State& state) {
  const Json review = parse_json(job_review()).value();
  const api::kueue::ObjectGetter get = [](const api::GroupVersionResource&, std::string_view, std::string_view) {
    return JsonPtr();
  };
  const api::kueue::AdmissionPolicy policy;
  for (auto _ : state) {
    benchmark::DoNotOptimize(answer_admission(Hook::kMutate, "batch", "jobs", review, {get, policy}));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(review_alone)->Unit(benchmark::kMicrosecond);

// With `rotating`, the certificate changes once per iteration.
void over_kept_connections(benchmark::State& state, bool rotating) {
  Served served;
  const std::string review = job_review();
  std::vector<HttpsClient> clients;
  for (int i = 0; i < kClients; ++i)
    clients.emplace_back(served.server->port(), served.certificates.trusted(), http::Credential());
  constexpr int kEach = 250;
  std::atomic<int> failures{0};
  for (auto _ : state) {
    std::vector<std::thread> threads;
    for (HttpsClient& client : clients) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) failures += client.request("POST", kPath, review).status == 200 ? 0 : 1;
      });
    }
    if (rotating) served.on_executor([&] { return served.certificates.change_leaf(), 0; });
    for (std::thread& t : threads) t.join();
  }
  if (failures > 0) state.SkipWithError("a request failed");
  state.SetItemsProcessed(state.iterations() * kEach * kClients);
}
BENCHMARK_CAPTURE(over_kept_connections, steady, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(over_kept_connections, rotating, true)->Unit(benchmark::kMillisecond)->UseRealTime();

// Each request uses a new connection: mostly TLS handshakes.
void over_new_connections(benchmark::State& state) {
  Served served;
  const std::string review = job_review(), trusted = served.certificates.trusted();
  int failures = 0;
  for (auto _ : state) {
    HttpsClient client(served.server->port(), trusted, {});
    failures += client.request("POST", kPath, review).status == 200 ? 0 : 1;
  }
  if (failures > 0) state.SkipWithError("a request failed");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(over_new_connections)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace berth::serve
