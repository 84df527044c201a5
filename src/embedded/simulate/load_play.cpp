#include "embedded/simulate/load_play.h"

#include <algorithm>
#include <utility>

#include "api/status.h"
#include "embedded/simulate/load_pods.h"
#include "embedded/simulate/load_stall.h"
#include "embedded/simulate/observer.h"
#include "embedded/simulate/pretend_runs.h"
#include "engine/schedule/bypassed.h"

namespace berth::simulate {
namespace {

// before the start: time for the controllers to see nodes and queues
constexpr Duration kSettling = std::chrono::seconds(1);
constexpr Duration kLook = std::chrono::seconds(1);
// Time without progress before the first advice; then the time from one check to the next, and after advice.
constexpr Duration kAdviseFirst = std::chrono::seconds(30), kAdviseLook = std::chrono::seconds(5),
                   kAdviseEvery = std::chrono::minutes(1);
constexpr Duration kStall = std::chrono::minutes(10);  // without progress for so long, the play ends

struct Waits {
  std::size_t count = 0, finished = 0, evictions = 0;
  std::vector<Duration> waited;
  Duration held{}, runtime{};
};

Duration average(Duration total, std::size_t count) {
  return count == 0 ? Duration() : total / static_cast<Duration::rep>(count);
}

// Nearest-rank percentile: the smallest value that at least `percent` of the values do not exceed.
Duration percentile(const std::vector<Duration>& sorted, std::size_t percent) {
  if (sorted.empty()) return {};
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

struct LoadPlay::Impl : std::enable_shared_from_this<LoadPlay::Impl> {
  Impl(const Load& l, api::RestClient& c, Executor& e, LoadPlayOptions o)
      : load(l),
        client(c),
        executor(e),
        options(std::move(o)),
        observer(client, executor),
        runs(options.runs ? *options.runs : client, executor, [this](const std::string& key) { return run_time(key); }),
        pods(load, client, executor, [this](const std::string& pod, const api::RestResponse& answer) {
          end(fail(pod + ": " + std::string(api::status_message(answer))));
        }) {
    for (std::size_t i = 0; i < load.submissions.size(); ++i) {
      const auto& submission = load.submissions[i];
      by_key[load.queues[submission.queue].name + "/" + submission.name] = i;
    }
    if (options.as == LoadAs::kWorkloads) {
      observer.on_workload(
          [this](const std::string& key, const Observer::WorkloadPtr& now) { runs.workload_changed(key, now); });
    }
  }

  std::optional<Duration> run_time(const std::string& key) const {
    const auto it = by_key.find(key);
    if (it == by_key.end()) return std::nullopt;
    return load.kinds[load.submissions[it->second].kind].runtime;
  }

  void later(Duration wait, void (Impl::*what)()) {
    executor.after(wait, [weak = weak_from_this(), what] {
      if (const auto self = weak.lock()) (self.get()->*what)();
    });
  }

  void end(Result<LoadReport> outcome) {
    if (auto report = std::exchange(done, nullptr)) report(std::move(outcome));
  }

  // --- Before the start: create one object after the other.

  // A server may have workloads and queues that are not of this load.
  void ignore_others() {
    std::set<std::string> namespaces, quotas;
    for (const auto& queue : load.queues) namespaces.insert(queue.name);
    for (const Json& object : load.objects) {
      const std::string kind(string_at(object, {"kind"}));
      if (kind == "ClusterQueue" || kind == "Cohort")
        quotas.insert(kind + "/" + std::string(string_at(object, {"metadata", "name"})));
    }
    observer.ignore_others(std::move(namespaces), std::move(quotas));
  }

  void create_next() {
    if (created == load.objects.size()) {
      ignore_others();
      observer.start();
      if (options.as == LoadAs::kPods) pods.start();
      return later(kSettling, &Impl::begin);
    }
    if (options.on_progress) options.on_progress({{}, 0, 0, 0, created});
    const Json& object = load.objects[created++];
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = load_resource(string_at(object, {"kind"}));
    request.ns = string_at(object, {"metadata", "namespace"});
    request.field_validation = api::FieldValidation::kStrict;
    request.user = {"load", {"system:masters"}};
    request.body = object;
    client.call(std::move(request), [weak = weak_from_this(), &object](const api::RestResponse& response) {
      const auto self = weak.lock();
      if (!self) return;
      if (response.ok()) return self->create_next();
      self->end(fail(std::string(string_at(object, {"kind"})) + " " +
                     std::string(string_at(object, {"metadata", "name"})) + ": " +
                     std::string(api::status_message(response))));
    });
  }

  void begin() {
    start = progressed = executor.now();
    if (options.on_start) options.on_start();
    submit_due();
    later(kLook, &Impl::look);
  }

  // Submits what is due and sets a timer for the next submission.
  void submit_due() {
    const Duration now = executor.now() - start;
    for (; next < load.submissions.size() && load.submissions[next].at <= now; ++next) submit(load.submissions[next]);
    if (next < load.submissions.size()) later(start + load.submissions[next].at - executor.now(), &Impl::submit_due);
  }

  void submit(const Submission& submission) {
    if (options.as == LoadAs::kPods) return pods.submit(submission);
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = load_resource(submitted_kind(options.as));
    request.ns = load.queues[submission.queue].name;
    request.user = {"load", {"system:masters"}};
    request.wants_metadata_only = true;
    request.body = options.as == LoadAs::kJobs      ? job_of(load, submission)
                   : options.as == LoadAs::kJobSets ? job_set_of(load, submission)
                                                    : workload_of(load, submission);
    const std::string name = request.ns + "/" + submission.name;
    client.call(std::move(request), [weak = weak_from_this(), name](const api::RestResponse& response) {
      const auto self = weak.lock();
      if (self && !response.ok()) self->end(fail(name + ": " + std::string(api::status_message(response))));
    });
  }

  void look() {
    if (!done) return;
    auto counts = observer.counts();
    // A pod that was deleted and created again has had several workloads, of which one succeeds.
    if (options.as == LoadAs::kPods) counts.finished = counts.succeeded;
    if (options.on_progress)
      options.on_progress({executor.now() - start, next, counts.admitted, counts.finished, created});
    const std::size_t sum = next + counts.admitted + counts.finished;
    if (std::exchange(last_sum, sum) != sum) progressed = executor.now();
    if (options.on_stall) advise();
    const bool more = next < load.submissions.size();
    if (counts.finished >= load.submissions.size() || (!more && executor.now() - progressed >= kStall))
      return end(report());
    later(kLook, &Impl::look);
  }

  // Reports why the play stalls. Looks for the reason only then.
  void advise() {
    const Duration quiet = executor.now() - progressed;
    if (quiet == Duration()) advise_after = kAdviseFirst;
    if (quiet < advise_after) return;
    advise_after = quiet + kAdviseLook;
    LoadStall stall{options.as, quiet, {}, next, 0, 0, 0, {}};
    for (const auto& kind : load.kinds) stall.longest_run = std::max(stall.longest_run, kind.runtime);
    std::map<std::string, std::size_t> reasons;
    for (const auto& [submission, life] : lives()) {
      ++stall.workloads;
      if (ended(life)) ++stall.finished;
      if (ended(life) || life.waiting_for.empty()) {
        if (life.last_admitted) ++stall.admitted;
      } else {
        ++reasons[std::string(engine::verdict_in(life.waiting_for))];
      }
    }
    const auto most = std::max_element(reasons.begin(), reasons.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != reasons.end()) stall.reason = most->first;
    const std::string advice = stall_advice(stall);
    if (advice.empty()) return;
    advise_after = quiet + kAdviseEvery;
    options.on_stall(advice);
  }

  // --- The report.

  // The latest workload of each submission, by its index, with the evictions of those before it.
  std::map<std::size_t, Life> lives() const {
    std::map<std::size_t, Life> out;
    for (auto& life : observer.lives()) {
      const auto it = by_key.find(life.ns + "/" + life.name);
      if (it == by_key.end()) continue;
      Life& known = out[it->second];
      life.evictions.insert(life.evictions.begin(), known.evictions.begin(), known.evictions.end());
      known = std::move(life);
    }
    return out;
  }

  // The workload of a pod that was evicted ends, too.
  bool ended(const Life& life) const { return life.finished && (options.as != LoadAs::kPods || life.succeeded); }

  LoadReport report() const {
    LoadReport report;
    report.count = load.submissions.size();
    report.quota_floor = load.quota_floor;
    report.last_submission = load.submissions.back().at;
    std::map<std::string, Waits> by_class;
    for (const auto& submission : load.submissions) {
      Waits& waits = by_class[load.kinds[submission.kind].class_name];
      ++waits.count;
      report.pods += load.kinds[submission.kind].pods;
      waits.runtime += load.kinds[submission.kind].runtime;
    }
    Duration last{};
    for (const auto& [index, life] : lives()) {
      const Submission& submission = load.submissions[index];
      Waits& waits = by_class[load.kinds[submission.kind].class_name];
      waits.evictions += life.evictions.size();
      if (life.last_admitted) waits.waited.push_back(*life.last_admitted - start - submission.at);
      if (!ended(life)) {
        ++report.unfinished[std::string(engine::verdict_in(life.waiting_for))];
        continue;
      }
      ++waits.finished;
      ++report.finished;
      last = std::max(last, *life.finished - start);
      if (life.last_admitted) waits.held += *life.finished - *life.last_admitted;
    }
    report.makespan = report.finished == report.count ? last : executor.now() - start;
    add_classes(by_class, report);
    add_utilisation(report);
    return report;
  }

  void add_classes(std::map<std::string, Waits>& by_class, LoadReport& report) const {
    for (const auto& kind : load.kinds) {
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
    for (const auto& u : observer.utilisation()) {
      used += u.used_seconds;
      nominal += static_cast<double>(u.nominal.count());
    }
    const double available = nominal * std::chrono::duration<double>(report.makespan).count();
    report.utilisation = available > 0 ? used / available : 0;
  }

  const Load& load;
  api::RestClient& client;
  Executor& executor;
  LoadPlayOptions options;
  Observer observer;
  PretendRuns runs;
  LoadPods pods;
  std::function<void(Result<LoadReport>)> done;  // empty after the call
  std::size_t created = 0;                       // number of objects
  std::size_t next = 0;                          // index of the next submission
  Time start{}, progressed{};
  Duration advise_after = kAdviseFirst;  // time without progress before the next advice
  std::size_t last_sum = 0;
  std::map<std::string, std::size_t, std::less<>> by_key;  // "namespace/name" -> submission
};

std::string_view submitted_kind(LoadAs as) {
  switch (as) {
    case LoadAs::kJobs:
      return "Job";
    case LoadAs::kPods:
      return "Pod";
    case LoadAs::kJobSets:
      return "JobSet";
    case LoadAs::kWorkloads:
      break;
  }
  return "Workload";
}

LoadPlay::LoadPlay(const Load& load, api::RestClient& client, Executor& executor, LoadPlayOptions options)
    : impl_(std::make_shared<Impl>(load, client, executor, std::move(options))) {}
LoadPlay::~LoadPlay() = default;

void LoadPlay::start(std::function<void(Result<LoadReport>)> done) {
  impl_->done = std::move(done);
  impl_->create_next();
}

}  // namespace berth::simulate
