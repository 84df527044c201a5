#include "simulate/load_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "api/status.h"
#include "apiserver/server/api_server.h"
#include "controller/controller.h"
#include "simulate/observer.h"
#include "simulate/pretend_runs.h"
#include "simulate/world.h"

namespace berth::simulate {
namespace {

constexpr Duration kSettling = std::chrono::seconds(1);  // for nodes and queues to be seen, before the start
constexpr Duration kLook = std::chrono::seconds(1);
constexpr Duration kStall = std::chrono::minutes(10);  // without any progress nothing more will come
constexpr std::string_view kStart = "2026-01-01T00:00:00Z";

struct Waits {
  std::size_t count = 0, finished = 0, evictions = 0;
  std::vector<Duration> waited;
  Duration held{}, runtime{};
};

Duration average(Duration total, std::size_t count) {
  return count == 0 ? Duration() : total / static_cast<Duration::rep>(count);
}

// The nearest rank: at least `percent` of the values are not above it.
Duration percentile(const std::vector<Duration>& sorted, std::size_t percent) {
  if (sorted.empty()) return {};
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

class Runner {
 public:
  Runner(const Load& load, const LoadRunOptions& options, World& world)
      : load_(load),
        options_(options),
        world_(world),
        observer_(world.client(), world.executor()),
        runs_(world.client(), world.executor(), [this](const std::string& key) { return run_time(key); }) {
    for (std::size_t i = 0; i < load_.submissions.size(); ++i) {
      const auto& submission = load_.submissions[i];
      by_key_[load_.queues[submission.queue].name + "/" + submission.name] = i;
    }
  }

  Result<LoadReport> run() {
    for (const auto& object : load_.objects) {
      if (auto created = world_.create(object); !created)
        return fail(std::string(string_at(object, {"kind"})) + " " +
                    std::string(string_at(object, {"metadata", "name"})) + ": " + created.error().message);
    }
    observer_.start();
    if (options_.as == LoadRunOptions::As::kWorkloads) runs_.start();
    world_.run_for(kSettling);
    start_ = world_.executor().now();
    before_ = world_.controller().request_counts();
    revision_ = world_.server().revision();
    submit_due();
    play();
    if (!refused_.empty()) return fail(refused_);
    return report();
  }

 private:
  std::optional<Duration> run_time(const std::string& key) const {
    const auto it = by_key_.find(key);
    if (it == by_key_.end()) return std::nullopt;
    return load_.kinds[load_.submissions[it->second].kind].runtime;
  }

  // Submits what is due and comes back for the rest.
  void submit_due() {
    const Duration now = world_.executor().now() - start_;
    for (; next_ < load_.submissions.size() && load_.submissions[next_].at <= now; ++next_)
      submit(load_.submissions[next_]);
    if (next_ < load_.submissions.size())
      world_.executor().at(start_ + load_.submissions[next_].at, [this] { submit_due(); });
  }

  void submit(const Submission& submission) {
    const bool job = options_.as == LoadRunOptions::As::kJobs;
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = job ? api::GroupVersionResource{"batch", "v1", "jobs"}
                           : api::GroupVersionResource{"kueue.x-k8s.io", "v1beta2", "workloads"};
    request.ns = load_.queues[submission.queue].name;
    request.user = {"load", {"system:masters"}};
    request.body = job ? job_of(load_, submission) : workload_of(load_, submission);
    const std::string name = request.ns + "/" + submission.name;
    world_.client().call(std::move(request), [this, name](const api::RestResponse& response) {
      if (response.ok() || !refused_.empty()) return;
      refused_ = name + ": " + std::string(api::status_message(response));
    });
  }

  void play() {
    std::size_t last = 0;
    Time progressed = start_;
    while (refused_.empty()) {
      world_.run_for(kLook);
      const auto counts = observer_.counts();
      if (options_.on_progress) options_.on_progress(progress());
      if (counts.finished >= load_.submissions.size()) return;
      const std::size_t sum = next_ + counts.admitted + counts.finished;
      if (std::exchange(last, sum) != sum) progressed = world_.executor().now();
      const bool more = next_ < load_.submissions.size();
      if (!more && world_.executor().now() - progressed >= kStall) return;
    }
  }

  LoadProgress progress() const {
    const auto counts = observer_.counts();
    return {world_.executor().now() - start_, next_, counts.admitted, counts.finished};
  }

  LoadReport report() const {
    LoadReport report;
    report.count = load_.submissions.size();
    report.quota_floor = load_.quota_floor;
    report.last_submission = load_.submissions.back().at;
    std::map<std::string, Waits> by_class;
    for (const auto& submission : load_.submissions) {
      Waits& waits = by_class[load_.kinds[submission.kind].class_name];
      ++waits.count;
      waits.runtime += load_.kinds[submission.kind].runtime;
    }
    Duration end{};
    for (const auto& life : observer_.lives()) {
      const auto it = by_key_.find(life.ns + "/" + life.name);
      if (it == by_key_.end()) continue;
      const Submission& submission = load_.submissions[it->second];
      Waits& waits = by_class[load_.kinds[submission.kind].class_name];
      waits.evictions += life.evictions.size();
      if (life.last_admitted) waits.waited.push_back(*life.last_admitted - start_ - submission.at);
      if (!life.finished) {
        ++report.unfinished[life.waiting_for];
        continue;
      }
      ++waits.finished;
      ++report.finished;
      end = std::max(end, *life.finished - start_);
      if (life.last_admitted) waits.held += *life.finished - *life.last_admitted;
    }
    report.makespan = report.finished == report.count ? end : world_.executor().now() - start_;
    add_classes(by_class, report);
    add_utilisation(report);
    add_requests(report);
    return report;
  }

  void add_classes(std::map<std::string, Waits>& by_class, LoadReport& report) const {
    for (const auto& kind : load_.kinds) {
      const auto it = by_class.find(kind.class_name);
      if (it == by_class.end()) continue;  // reported already
      Waits& waits = it->second;
      std::sort(waits.waited.begin(), waits.waited.end());
      Duration total{};
      for (const auto wait : waits.waited) total += wait;
      LoadClassReport& out = report.classes.emplace_back();
      out.class_name = kind.class_name;
      out.count = waits.count;
      out.finished = waits.finished;
      out.wait_average = average(total, waits.waited.size());
      out.wait_median = percentile(waits.waited, 50);
      out.wait_p95 = percentile(waits.waited, 95);
      out.wait_longest = waits.waited.empty() ? Duration() : waits.waited.back();
      out.held_average = average(waits.held, waits.finished);
      out.runtime_average = average(waits.runtime, waits.count);
      out.evictions = waits.evictions;
      by_class.erase(it);
    }
  }

  void add_utilisation(LoadReport& report) const {
    double used = 0, nominal = 0;
    for (const auto& u : observer_.utilisation()) {
      used += u.used_seconds;
      nominal += static_cast<double>(u.nominal.count());
    }
    const double available = nominal * std::chrono::duration<double>(report.makespan).count();
    report.utilisation = available > 0 ? used / available : 0;
  }

  void add_requests(LoadReport& report) const {
    report.controller_requests = world_.controller().request_counts();
    for (const auto& [what, count] : before_) report.controller_requests[what] -= count;
    std::erase_if(report.controller_requests, [](const auto& entry) { return entry.second == 0; });
    report.api_writes = static_cast<std::uint64_t>(world_.server().revision() - revision_);
  }

  const Load& load_;
  const LoadRunOptions& options_;
  World& world_;
  Observer observer_;
  PretendRuns runs_;
  Time start_{};
  std::size_t next_ = 0;                                    // of the submissions
  std::map<std::string, std::size_t, std::less<>> by_key_;  // "namespace/name" -> submission
  std::string refused_;                          // what the server said to the first submission it refused
  std::map<std::string, std::uint64_t> before_;  // the controller's requests before the start
  apiserver::Revision revision_ = 0;
};

}  // namespace

Result<LoadReport> run_load(const Load& load, const LoadRunOptions& options) {
  WorldOptions world_options;
  world_options.start = *parse_time(kStart);
  world_options.node_manifests = load.nodes;
  world_options.seed = options.seed;
  if (auto applied = controller::apply_feature_gates(options.feature_gates, world_options.engine); !applied)
    return tl::unexpected(applied.error());
  auto world = World::make(world_options);
  if (!world) return tl::unexpected(world.error());
  return Runner(load, options, **world).run();
}

}  // namespace berth::simulate
