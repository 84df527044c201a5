// The API server from outside: writes, reads and watch events per second, over HTTPS on loopback and in process.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "embedded/apiserver/http/pki.h"
#include "embedded/apiserver/router/router.h"
#include "embedded/apiserver/server/api_server.h"
#include "http/asio_executor.h"
#include "http/https_server.h"
#include "support/http2_client.h"
#include "support/https_client.h"

namespace berth {
namespace {

namespace http = apiserver::http;
using testing_support::Http2Client;
using testing_support::Http2Peer;
using testing_support::HttpsClient;

constexpr int kClients = 8;       // concurrent connections
constexpr int kOutstanding = 64;  // concurrent requests in process: as many as one group commit can hold
constexpr int kWatchers = 100;

enum class Store { kMemory, kDisk };

// A server on its own threads, as `berth up` runs it.
class World {
 public:
  explicit World(Store store) {
    auto log = apiserver::make_memory_log(executor_);
    if (store == Store::kDisk) {
      dir_ = (std::filesystem::temp_directory_path() / ("berth_bench_" + std::to_string(::getpid()))).string();
      std::filesystem::create_directories(dir_);
      log = apiserver::open_sqlite_log(dir_ + "/state.db", executor_).value();
    }
    core_ = apiserver::ApiServer::open(executor_, std::move(log)).value();
    pki_ = http::load_or_create_pki("", {"127.0.0.1"}, executor_.now()).value();
    router_ = std::make_unique<http::Router>(*core_, core_->registry(), executor_);
    server_ = berth::http::HttpsServer::start(*router_, executor_, http::server_context(pki_).value(), {}).value();
    thread_ = std::thread([this] { executor_.run(); });
  }
  ~World() {
    std::promise<void> stopped;
    server_->stop(std::chrono::seconds(1), [&] { stopped.set_value(); });
    stopped.get_future().wait();
    server_.reset();
    executor_.stop();
    thread_.join();
    router_.reset();
    core_.reset();
    if (!dir_.empty()) std::filesystem::remove_all(dir_);
  }

  HttpsClient client() const { return HttpsClient(server_->port(), pki_.authority.certificate, pki_.admin); }
  Http2Client http2_client() const { return {server_->port(), pki_.authority.certificate, pki_.admin}; }
  apiserver::ApiServer& core() { return *core_; }
  Executor& executor() { return executor_; }

 private:
  berth::http::AsioExecutor executor_;
  std::string dir_;
  std::unique_ptr<apiserver::ApiServer> core_;
  http::Pki pki_;
  std::unique_ptr<http::Router> router_;
  std::unique_ptr<berth::http::HttpsServer> server_;
  std::thread thread_;
};

Json config_map(const std::string& name) {
  return JsonObject{{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", JsonObject{{"name", name}, {"namespace", "default"}}},
                    {"data", JsonObject{{"owner", "research"}, {"text", std::string(256, 'x')}}}};
}

constexpr const char* kPath = "/api/v1/namespaces/default/configmaps";

// Sends `count` requests on the executor, kOutstanding at a time; returns when all are answered.
void in_process(World& world, int count, const std::function<api::RestRequest(int)>& make) {
  struct Run {
    int sent = 0, answered = 0;
    std::promise<void> done;
  };
  auto run = std::make_shared<Run>();
  auto send = std::make_shared<std::function<void()>>();
  *send = [&world, &make, run, count, weak = std::weak_ptr(send)] {
    if (run->sent == count) return;
    world.core().call(make(run->sent++), [run, count, again = weak.lock()](api::RestResponse) {
      if (++run->answered == count) run->done.set_value();
      if (again) (*again)();
    });
  };
  world.executor().post([send] {
    for (int i = 0; i < kOutstanding; ++i) (*send)();
  });
  run->done.get_future().wait();
}

api::RestRequest request_of(api::Verb verb, std::string name) {
  api::RestRequest request;
  request.verb = verb;
  request.resource = {"", "v1", "configmaps"};
  request.ns = "default";
  request.name = std::move(name);
  request.user = {"admin", {"system:masters"}};
  request.field_manager = "bench";
  return request;
}

void writes_in_process(benchmark::State& state, Store store) {
  World world(store);
  constexpr int kBatch = 2'000;
  int batch = 0;
  for (auto _ : state) {
    const std::string prefix = "b" + std::to_string(batch++) + "-";
    in_process(world, kBatch, [&](int i) {
      api::RestRequest request = request_of(api::Verb::kCreate, "");
      request.body = config_map(prefix + std::to_string(i));
      return request;
    });
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK_CAPTURE(writes_in_process, memory, Store::kMemory)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(writes_in_process, disk, Store::kDisk)->Unit(benchmark::kMillisecond)->UseRealTime();

void reads_in_process(benchmark::State& state) {
  World world(Store::kMemory);
  in_process(world, 1, [](int) {
    api::RestRequest request = request_of(api::Verb::kCreate, "");
    request.body = config_map("one");
    return request;
  });
  constexpr int kBatch = 5'000;
  for (auto _ : state) in_process(world, kBatch, [](int) { return request_of(api::Verb::kGet, "one"); });
  state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK(reads_in_process)->Unit(benchmark::kMillisecond)->UseRealTime();

// Sends `each` requests on each of kClients connections at the same time.
template <typename F>
void over_https(std::vector<HttpsClient>& clients, int each, F ask) {
  std::vector<std::thread> threads;
  for (std::size_t c = 0; c < clients.size(); ++c) {
    threads.emplace_back([&, c] {
      for (int i = 0; i < each; ++i) ask(clients[c], static_cast<int>(c) * each + i);
    });
  }
  for (std::thread& t : threads) t.join();
}

std::vector<HttpsClient> connect(World& world) {
  std::vector<HttpsClient> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(world.client());
  return clients;
}

void writes_over_https(benchmark::State& state, Store store) {
  World world(store);
  auto clients = connect(world);
  constexpr int kEach = 100;
  int batch = 0;
  std::atomic<int> failures{0};
  for (auto _ : state) {
    const std::string prefix = "b" + std::to_string(batch++) + "-";
    over_https(clients, kEach, [&](HttpsClient& client, int i) {
      if (client.request("POST", kPath, to_string(config_map(prefix + std::to_string(i)))).status != 201) ++failures;
    });
  }
  if (failures > 0) state.SkipWithError("a request failed");
  state.SetItemsProcessed(state.iterations() * kEach * kClients);
}
BENCHMARK_CAPTURE(writes_over_https, memory, Store::kMemory)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(writes_over_https, disk, Store::kDisk)->Unit(benchmark::kMillisecond)->UseRealTime();

void reads_over_https(benchmark::State& state) {
  World world(Store::kMemory);
  auto clients = connect(world);
  clients[0].request("POST", kPath, to_string(config_map("one")));
  constexpr int kEach = 200;
  std::atomic<int> failures{0};
  for (auto _ : state) {
    over_https(clients, kEach, [&](HttpsClient& client, int) {
      if (client.request("GET", std::string(kPath) + "/one").status != 200) ++failures;
    });
  }
  if (failures > 0) state.SkipWithError("a request failed");
  state.SetItemsProcessed(state.iterations() * kEach * kClients);
}
BENCHMARK(reads_over_https)->Unit(benchmark::kMillisecond)->UseRealTime();

// Sends `count` requests on one HTTP/2 connection, with `in_flight` concurrent requests. False: an answer did not
// have `status`.
template <typename F>
bool over_http2(Http2Client& client, int in_flight, int count, int status, F ask) {
  Http2Peer& peer = client.peer();
  std::vector<Http2Peer::Stream> open;
  int asked = 0, failed = 0;
  const auto done = [&] {
    std::erase_if(open, [&](Http2Peer::Stream stream) {
      if (!peer.answer(stream).closed) return false;
      failed += peer.answer(stream).status == status ? 0 : 1;
      peer.forget(stream);
      return true;
    });
    while (asked < count && open.size() < static_cast<std::size_t>(in_flight)) open.push_back(ask(peer, asked++));
    return open.empty();
  };
  return client.run(done) && failed == 0;
}

constexpr int kBatchOverHttp2 = 2'000;

void writes_over_http2(benchmark::State& state, Store store) {
  World world(store);
  Http2Client client = world.http2_client();
  int batch = 0;
  for (auto _ : state) {
    const std::string prefix = "b" + std::to_string(batch++) + "-";
    const bool fine =
        over_http2(client, static_cast<int>(state.range(0)), kBatchOverHttp2, 201, [&](Http2Peer& peer, int i) {
          return peer.request("POST", kPath, to_string(config_map(prefix + std::to_string(i))),
                              {{"content-type", "application/json"}});
        });
    if (!fine) state.SkipWithError("a request failed");
  }
  state.SetItemsProcessed(state.iterations() * kBatchOverHttp2);
}
BENCHMARK_CAPTURE(writes_over_http2, memory, Store::kMemory)
    ->Arg(8)
    ->Arg(1'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(writes_over_http2, disk, Store::kDisk)
    ->Arg(8)
    ->Arg(1'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void reads_over_http2(benchmark::State& state) {
  World world(Store::kMemory);
  Http2Client client = world.http2_client();
  client.request("POST", kPath, to_string(config_map("one")), {{"content-type", "application/json"}});
  for (auto _ : state) {
    const bool fine =
        over_http2(client, static_cast<int>(state.range(0)), kBatchOverHttp2, 200,
                   [&](Http2Peer& peer, int) { return peer.request("GET", std::string(kPath) + "/one"); });
    if (!fine) state.SkipWithError("a request failed");
  }
  state.SetItemsProcessed(state.iterations() * kBatchOverHttp2);
}
BENCHMARK(reads_over_http2)->Arg(8)->Arg(1'000)->Unit(benchmark::kMillisecond)->UseRealTime();

// Like watch_fan_out, but all watches share one connection.
void watch_fan_out_over_http2(benchmark::State& state) {
  World world(Store::kMemory);
  HttpsClient writer = world.client();
  Http2Client client = world.http2_client();
  Http2Peer& peer = client.peer();
  std::vector<Http2Peer::Stream> watches;
  for (int i = 0; i < kWatchers; ++i)
    watches.push_back(peer.request("GET", std::string(kPath) + "?watch=1&resourceVersion=1"));
  constexpr int kWrites = 20;
  int written = 0;
  const auto seen = [&](Http2Peer::Stream watch) {
    const std::string& body = peer.answer(watch).body;
    return std::count(body.begin(), body.end(), '\n');
  };
  client.run([&] {
    return std::all_of(watches.begin(), watches.end(), [&](auto watch) { return peer.answer(watch).status == 200; });
  });
  for (auto _ : state) {
    for (int i = 0; i < kWrites; ++i)
      writer.request("POST", kPath, to_string(config_map("w" + std::to_string(written++))));
    if (!client.run(
            [&] { return std::all_of(watches.begin(), watches.end(), [&](auto w) { return seen(w) == kWrites; }); }))
      state.SkipWithError("an event did not come");
    for (const auto watch : watches) peer.clear_body(watch);
  }
  state.SetItemsProcessed(state.iterations() * kWrites * kWatchers);
}
BENCHMARK(watch_fan_out_over_http2)->Unit(benchmark::kMillisecond)->UseRealTime();

// One write that all watchers receive; items are delivered events.
void watch_fan_out(benchmark::State& state) {
  World world(Store::kMemory);
  HttpsClient writer = world.client();
  std::vector<HttpsClient> watchers;
  for (int i = 0; i < kWatchers; ++i) {
    watchers.push_back(world.client());
    if (watchers.back().open_stream(std::string(kPath) + "?watch=1&resourceVersion=1").status != 200) {
      state.SkipWithError("a watch failed");
      return;
    }
  }
  constexpr int kWrites = 20;
  int written = 0;
  for (auto _ : state) {
    for (int i = 0; i < kWrites; ++i) {
      writer.request("POST", kPath, to_string(config_map("w" + std::to_string(written++))));
    }
    for (HttpsClient& w : watchers) {
      for (int i = 0; i < kWrites; ++i) benchmark::DoNotOptimize(w.read_line());
    }
  }
  state.SetItemsProcessed(state.iterations() * kWrites * kWatchers);
}
BENCHMARK(watch_fan_out)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace berth
