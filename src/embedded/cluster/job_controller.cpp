#include "embedded/cluster/job_controller.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/meta.h"
#include "api/outcome.h"
#include "api/owners.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "embedded/cluster/job_sync.h"
#include "embedded/cluster/shared/looks.h"
#include "embedded/cluster/shared/own_writes.h"
#include "embedded/cluster/shared/owned_pods.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"

namespace berth::cluster {
namespace {

using api::RestRequest;
using api::RestResponse;
using api::Verb;

constexpr std::string_view kManager = "kube-controller-manager";

constexpr Duration kFirstRetry = std::chrono::milliseconds(100);
constexpr Duration kMaxCreateRetry = std::chrono::minutes(1);
// Delay after a create with unknown outcome: until then the watch has shown the pod if it exists.
constexpr Duration kUnknownOutcome = std::chrono::seconds(10);

// The owner reference of the Job that controls a pod; null when no Job does.
const Json* controlling_job(const Json& pod) {
  const Json* owner = api::controller_of(pod);
  const bool is_job = owner != nullptr && string_at(*owner, {"kind"}) == "Job" &&
                      string_at(*owner, {"apiVersion"}).starts_with("batch/");
  return is_job ? owner : nullptr;
}

kube::EventRecorderOptions recorder_options() {
  kube::EventRecorderOptions options;
  options.controller = "job-controller";
  options.instance = "job-controller";
  return options;
}

}  // namespace

struct JobController::Impl : std::enable_shared_from_this<JobController::Impl> {
  Impl(api::RestClient& c, Executor& e)
      : client(c),
        executor(e),
        jobs(c, e, api::kJobs),
        pods(c, e, api::kPods),
        recorder(c, e, recorder_options()),
        job_writes(jobs),
        pod_writes(pods),
        owned(controlling_job, pod_writes),
        looks(e, kFirstRetry, [this](const std::string& key) { look(key); }) {}

  // State that is kept for a Job.
  struct Known {
    std::string uid;
    int failed_creations = 0;  // in a row
    Time create_after{};
    JobBackoff backoff{};
  };

  api::RestClient& client;
  Executor& executor;
  kube::Informer jobs, pods;
  kube::EventRecorder recorder;
  OwnWrites job_writes, pod_writes;
  OwnedPods owned;
  Looks looks;
  std::map<std::string, Known, std::less<>> known;  // by the Job's key

  // Changes of objects.
  // ---------------------------------------------------------------------------------------------------

  void start() {
    jobs.on_change([this](const JsonPtr& old, const JsonPtr& now) { job_changed(old, now); });
    pods.on_change([this](const JsonPtr& old, const JsonPtr& now) { pod_changed(old, now); });
    jobs.on_synced([this] { begin(); });
    pods.on_synced([this] { begin(); });
    jobs.start();
    pods.start();
  }

  bool ready() const { return jobs.synced() && pods.synced(); }

  void begin() {
    if (!ready()) return;
    for (const auto& job : jobs.list()) enqueue(pod_key(*job));
    for (const auto& pod : pods.list()) check_orphan(*pod);
  }

  void job_changed(const JsonPtr& old, const JsonPtr& now) {
    if (now) return enqueue(pod_key(*now));
    enqueue(pod_key(*old));
    for (const auto& pod : owned.of(string_at(*old, {"metadata", "uid"}))) check_orphan(*pod);
  }

  void pod_changed(const JsonPtr& old, const JsonPtr& now) {
    owned.pod_changed(old, now);
    for (const auto* pod : {old.get(), now.get()}) {
      const Json* owner = pod == nullptr ? nullptr : controlling_job(*pod);
      if (owner != nullptr) {
        enqueue(api::object_key(string_at(*pod, {"metadata", "namespace"}), string_at(*owner, {"name"})));
      }
    }
    if (now && ready()) check_orphan(*now);
  }

  void enqueue(const std::string& key) {
    if (ready()) looks.add(key);
  }

  // All requests about the Job are answered.
  void finished(const std::string& key, bool ok) {
    if (ok) known[key].failed_creations = 0;
    looks.answered(key, ok);
  }

  // Actions.
  // -----------------------------------------------------------------------------------------------------

  void look(const std::string& key) {
    job_writes.unseen();  // drops the writes that were seen
    const JsonPtr job = job_writes.get(key);
    if (!job) {
      looks.forget(key);
      known.erase(key);
      return;
    }
    Known& item = known[key];
    const auto uid = string_at(*job, {"metadata", "uid"});
    if (item.uid != uid) item = {std::string(uid)};
    const auto its_pods = owned.of(uid);
    const std::vector<JobPod> parsed(its_pods.begin(), its_pods.end());
    const Time now = executor.now();
    JobStep step = next_step({*job, parsed, item.backoff, now, now >= item.create_after});
    switch (step.kind) {
      case JobStep::Kind::kNothing: {
        auto when = step.wake;
        if (now < item.create_after && (!when || item.create_after < *when)) when = item.create_after;
        if (when) looks.add_at(key, *when);
        return;
      }
      case JobStep::Kind::kWriteStatus:
        return write_status(key, *job, std::move(step));
      case JobStep::Kind::kChangePods:
        return change_pods(key, *job, std::move(step));
      case JobStep::Kind::kDeleteJob:
        return delete_job(key, *job);
    }
  }

  RestRequest request(Verb verb, const api::GroupVersionResource& resource, const Json& object) const {
    RestRequest out;
    out.verb = verb;
    out.resource = resource;
    out.ns = string_at(object, {"metadata", "namespace"});
    out.name = string_at(object, {"metadata", "name"});
    out.field_manager = kManager;
    return out;
  }

  void send(RestRequest r, std::function<void(RestResponse)> done) {
    client.call(std::move(r), [self = weak_from_this(), done = std::move(done)](RestResponse response) {
      if (const auto impl = self.lock()) done(std::move(response));
    });
  }

  void record(const Json& job, bool warning, std::string reason, std::string message) {
    kube::ObjectRef about{"batch/v1", "Job", std::string(string_at(job, {"metadata", "namespace"})),
                          std::string(string_at(job, {"metadata", "name"})),
                          std::string(string_at(job, {"metadata", "uid"}))};
    kube::EventText text;
    text.warning = warning;
    text.reason = std::move(reason);
    text.note = std::move(message);
    text.by_note = true;
    recorder.record(about, std::move(text));
  }

  void write_status(const std::string& key, const Json& job, JobStep step) {
    looks.sent(key);
    RestRequest r = request(Verb::kUpdate, api::kJobs, job);
    r.subresource = "status";
    r.body = job;
    ensure_path(r.body, {"status"}) = step.status;
    send(std::move(r), [this, key, step = std::move(step)](RestResponse response) {
      if (!response.ok()) {
        // A conflict is normal: the Job changed, and the watch will show the change.
        log::debug("job status not written", {{"job", key}, {"code", response.code}});
        return finished(key, false);
      }
      if (step.backoff) known[key].backoff = *step.backoff;
      for (const auto& event : step.events) record(response.body, event.warning, event.reason, event.message);
      job_writes.wrote(std::move(response.body));
      finished(key, true);
    });
  }

  void delete_job(const std::string& key, const Json& job) {
    looks.sent(key);
    RestRequest r = request(Verb::kDelete, api::kJobs, job);
    r.body = {{"apiVersion", "v1"},
              {"kind", "DeleteOptions"},
              {"propagationPolicy", "Foreground"},
              {"preconditions", {{"uid", string_at(job, {"metadata", "uid"})}}}};
    const std::string uid(string_at(job, {"metadata", "uid"}));
    send(std::move(r), [this, key, uid](RestResponse response) {
      const bool done = response.ok() || response.code == 404;
      if (done) job_writes.gone(key, uid);
      finished(key, done);
    });
  }

  // Several requests about the pods of one Job. The Job is looked at again when all are answered.
  struct Batch {
    std::size_t open = 1;  // one for the sender, until all requests are sent
    bool ok = true;
    bool create_failed = false;
    bool create_unknown = false;
  };

  void close_one(const std::string& key, Batch& batch) {
    if (--batch.open > 0) return;
    if (batch.create_failed) {
      Known& item = known[key];
      const Duration delay = doubled(kFirstRetry, item.failed_creations++, kMaxCreateRetry);
      item.create_after = executor.now() + (batch.create_unknown ? std::max(delay, kUnknownOutcome) : delay);
      // Look at the Job at once to write its status; only creating pods waits.
      return looks.answered(key, true);
    }
    finished(key, batch.ok);
  }

  void change_pods(const std::string& key, const Json& job, JobStep step) {
    looks.sent(key);
    const auto batch = std::make_shared<Batch>();
    const auto shared_job = std::make_shared<const Json>(job);
    std::set<std::string> removed;
    for (const auto& pod : step.remove) removed.insert(pod.uid);
    std::set<std::string> released;
    for (const auto& pod : step.release) {
      released.insert(pod.uid);
      ++batch->open;
      const bool remove_then = removed.contains(pod.uid);
      release(pod, [this, key, batch, shared_job, pod, remove_then](bool ok) {
        batch->ok = batch->ok && ok;
        if (ok && remove_then) {
          ++batch->open;
          remove(key, shared_job, pod, batch);
        }
        close_one(key, *batch);
      });
    }
    for (const auto& pod : step.remove) {
      if (released.contains(pod.uid)) continue;
      ++batch->open;
      remove(key, shared_job, pod, batch);
    }
    for (auto& pod : step.create) {
      ++batch->open;
      create(key, shared_job, std::move(pod), batch);
    }
    close_one(key, *batch);
  }

  // Removes the tracking finalizer from a pod. Succeeds when the finalizer or the pod is gone already.
  void release(const JobPod& pod, std::function<void(bool ok)> done) {
    RestRequest r = request(Verb::kPatch, api::kPods, *pod.object);
    r.patch_type = api::PatchType::kStrategicMerge;
    r.body = {
        {"metadata", {{"uid", pod.uid}, {"$deleteFromPrimitiveList/finalizers", JsonArray{Json(kTrackingFinalizer)}}}}};
    send(std::move(r), [this, pod, done = std::move(done)](RestResponse response) {
      const std::string key = pod_key(*pod.object);
      const bool is_gone = response.code == 404;
      if (is_gone) pod_writes.gone(key, pod.uid);
      if (response.ok()) pod_writes.wrote(std::move(response.body));
      done(response.ok() || is_gone);
    });
  }

  void remove(const std::string& key, const JsonPtr& job, const JobPod& pod, const std::shared_ptr<Batch>& batch) {
    RestRequest r = request(Verb::kDelete, api::kPods, *pod.object);
    r.body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", pod.uid}}}};
    send(std::move(r), [this, key, job, pod, batch](RestResponse response) {
      const bool is_gone = response.code == 404;
      if (is_gone) {
        pod_writes.gone(pod_key(*pod.object), pod.uid);
      } else if (response.ok()) {
        pod_writes.deleted(pod_key(*pod.object), pod.uid, std::move(response.body));
        record(*job, false, "SuccessfulDelete", "Deleted pod: " + pod.name);
      }
      batch->ok = batch->ok && (response.ok() || is_gone);
      close_one(key, *batch);
    });
  }

  void create(const std::string& key, const JsonPtr& job, Json pod, const std::shared_ptr<Batch>& batch) {
    RestRequest r;
    r.verb = Verb::kCreate;
    r.resource = api::kPods;
    r.ns = string_at(*job, {"metadata", "namespace"});
    r.field_manager = kManager;
    r.body = std::move(pod);
    send(std::move(r), [this, key, job, batch](RestResponse response) {
      if (response.ok()) {
        record(*job, false, "SuccessfulCreate",
               "Created pod: " + std::string(string_at(response.body, {"metadata", "name"})));
        pod_writes.wrote(std::move(response.body));
      } else {
        const auto why = response.code == 0 ? "the connection was lost" : api::status_message(response);
        record(*job, true, "FailedCreate", "Error creating: " + std::string(why));
        batch->create_failed = true;
        batch->create_unknown = batch->create_unknown || api::outcome_unknown(response.code);
      }
      close_one(key, *batch);
    });
  }

  // Orphans: tracked pods whose Job does not exist.
  // -------------------------------------------------------------------------

  void check_orphan(const Json& pod) {
    const JobPod parsed(std::make_shared<const Json>(pod));
    if (!parsed.tracked) return;
    const Json* owner = controlling_job(pod);
    if (owner == nullptr) {
      if (!has_controller(pod)) release_orphan(parsed);
      return;
    }
    const std::string uid(string_at(*owner, {"uid"}));
    RestRequest r;
    r.verb = Verb::kGet;
    r.resource = api::kJobs;
    r.ns = string_at(pod, {"metadata", "namespace"});
    r.name = string_at(*owner, {"name"});
    const JsonPtr cached = jobs.get(api::object_key(r.ns, r.name));
    if (cached && string_at(*cached, {"metadata", "uid"}) == uid) return;
    // The cache may lag behind: ask the server.
    send(std::move(r), [this, parsed, uid](RestResponse response) {
      const bool known_now = response.ok() || response.code == 404;
      if (!known_now) return check_orphan_later(parsed);
      if (response.code == 404 || string_at(response.body, {"metadata", "uid"}) != uid) release_orphan(parsed);
    });
  }

  void release_orphan(const JobPod& pod) {
    release(pod, [this, pod](bool ok) {
      if (!ok) check_orphan_later(pod);
    });
  }

  void check_orphan_later(const JobPod& pod) {
    executor.after(kUnknownOutcome, [self = weak_from_this(), key = pod_key(*pod.object)] {
      const auto impl = self.lock();
      const JsonPtr now = impl ? impl->pods.get(key) : nullptr;
      if (now) impl->check_orphan(*now);
    });
  }
};

JobController::JobController(api::RestClient& client, Executor& executor)
    : impl_(std::make_shared<Impl>(client, executor)) {}
JobController::~JobController() = default;

void JobController::start() { impl_->start(); }

}  // namespace berth::cluster
