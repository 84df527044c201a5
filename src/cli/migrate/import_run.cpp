#include "cli/migrate/import_run.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "api/kueue/names.h"
#include "api/resources.h"
#include "api/status.h"

namespace berth::cli::migrate {
namespace {

using queues::Server;

constexpr std::string_view kManager = "berth-import";
constexpr std::string_view kImported = "Imported";  // the reason of both conditions, as Kueue's importer

api::RestRequest about_workload(api::Verb verb, const PodFinding& pod) {
  api::RestRequest request;
  request.verb = verb;
  request.resource = api::kWorkloads;
  request.ns = pod.ns;
  if (verb != api::Verb::kCreate) request.name = pod.workload.meta.name;
  request.field_manager = kManager;
  return request;
}

api::RestRequest creation(const PodFinding& pod) {
  auto request = about_workload(api::Verb::kCreate, pod);
  api::kueue::Workload fresh = pod.workload;
  fresh.status = {};
  request.body = encode_workload(fresh);
  return request;
}

// Only these parts of the status: a controller may write others at the same time.
api::RestRequest admission(const PodFinding& pod, Time now) {
  auto request = about_workload(api::Verb::kPatch, pod);
  request.subresource = "status";
  request.patch_type = api::PatchType::kApply;
  request.force = true;
  api::kueue::WorkloadStatus status;
  status.admission = pod.workload.status.admission;
  status.admission_checks = pod.workload.status.admission_checks;
  for (auto& check : status.admission_checks) check.last_transition = to_seconds(now);
  for (const auto type : {api::kueue::kQuotaReserved, api::kueue::kAdmitted}) {
    api::Condition condition;
    condition.type = type;
    condition.status = true;
    condition.reason = kImported;
    condition.message = "Imported into ClusterQueue " + pod.cluster_queue;
    condition.last_transition = to_seconds(now);
    status.conditions.push_back(std::move(condition));
  }
  request.body = JsonObject{{"apiVersion", std::string(api::kueue::kGroup) + "/" + std::string(api::kueue::kVersion)},
                            {"kind", "Workload"},
                            {"metadata", JsonObject{{"name", pod.workload.meta.name}, {"namespace", pod.ns}}},
                            {"status", encode_workload_status(status)}};
  return request;
}

api::RestRequest without_gate(const PodFinding& pod) {
  auto request = about_workload(api::Verb::kPatch, pod);
  request.body = JsonObject();
  ensure_path(request.body, {"metadata", "annotations", api::kueue::kAdmissionGatedBy}) = nullptr;
  request.wants_metadata_only = true;
  return request;
}

// Refused when there is another pod of this name by now.
api::RestRequest labels(const PodFinding& pod, const ImportTerms& terms) {
  api::RestRequest request;
  request.verb = api::Verb::kPatch;
  request.resource = api::kPods;
  request.ns = pod.ns;
  request.name = pod.name;
  request.field_manager = kManager;
  request.body = JsonObject{
      {"metadata", JsonObject{{"uid", pod.workload.meta.owners.front().uid},
                              {"labels", api::encode_string_map(labels_of_imported(terms, pod.local_queue))}}}};
  request.wants_metadata_only = true;
  return request;
}

bool is_gone(const api::RestResponse& answer) { return answer.code == 404 || answer.code == 409; }

// Writes at a bounded rate.
class Writer {
 public:
  Writer(Server& server, const kube::RateLimitOptions& rate) : server_(server), rate_(rate, server.now()) {}

  api::RestResponse send(api::RestRequest request) {
    const Duration wait = rate_.reserve(server_.now());
    if (wait > Duration::zero()) server_.sleep(wait);
    api::RestResponse answer = server_.call(std::move(request));
    if (answer.code == 429 || answer.code == 503) rate_.pushed_back(server_.now());
    return answer;
  }
  // "": the write took effect.
  std::string failure_of(api::RestRequest request) {
    const api::GroupVersionResource resource = request.resource;
    const api::RestResponse answer = send(std::move(request));
    return answer.ok() ? "" : server_.explain(answer, resource);
  }
  Time now() const { return server_.now(); }
  std::string explain(const api::RestResponse& answer, const api::GroupVersionResource& resource) const {
    return server_.explain(answer, resource);
  }

 private:
  Server& server_;
  kube::RateLimit rate_;
};

enum class Outcome { kImported, kGone, kFailed };

Outcome import_pod(Writer& writer, const ImportTerms& terms, const PodFinding& pod, std::string& error) {
  if (!pod.exists) {
    const api::RestResponse made = writer.send(creation(pod));
    // Of this name: the first answer was lost, or the controller made it since.
    if (!made.ok() && api::status_reason(made) != "AlreadyExists") {
      error = writer.explain(made, api::kWorkloads);
      return Outcome::kFailed;
    }
  }
  if (!pod.admitted) {
    error = writer.failure_of(admission(pod, writer.now()));
    if (error.empty()) error = writer.failure_of(without_gate(pod));
    if (!error.empty()) return Outcome::kFailed;
  }
  if (pod.labelled) return Outcome::kImported;
  const api::RestResponse labelled = writer.send(labels(pod, terms));
  if (is_gone(labelled)) return Outcome::kGone;
  if (labelled.ok()) return Outcome::kImported;
  error = writer.explain(labelled, api::kPods);
  return Outcome::kFailed;
}

}  // namespace

Result<void> try_writes(Server& server, const ImportTerms& terms, const std::vector<PodFinding>& findings) {
  std::set<std::string> tried;
  for (const PodFinding& pod : findings) {
    if (pod.verdict != PodVerdict::kReady || !tried.insert(pod.ns).second) continue;
    const auto attempt = [&](api::RestRequest request) -> std::string {
      const api::GroupVersionResource resource = request.resource;
      request.dry_run = true;
      const api::RestResponse answer = server.call(std::move(request));
      return answer.ok() || is_gone(answer) ? "" : server.explain(answer, resource);
    };
    if (const std::string why = pod.exists ? "" : attempt(creation(pod)); !why.empty())
      return fail("namespace " + pod.ns + ": the server does not take workloads: " + why);
    if (const std::string why = pod.labelled ? "" : attempt(labels(pod, terms)); !why.empty())
      return fail("namespace " + pod.ns + ": the server does not let pod " + pod.name + " have its labels: " + why +
                  "; if a webhook refuses, take pod out of integrations.frameworks while you import");
  }
  return {};
}

Imported import_pods(const queues::Session& session, Server& server, const ImportTerms& terms,
                     const std::vector<PodFinding>& findings, const kube::RateLimitOptions& rate) {
  Imported out;
  Writer writer(server, rate);
  queues::Progress progress(session);
  const auto all = std::ranges::count(findings, PodVerdict::kReady, &PodFinding::verdict);
  for (const PodFinding& pod : findings) {
    if (pod.verdict != PodVerdict::kReady) continue;
    progress.show("importing " + std::to_string(out.pods + out.gone + 1) + " of " + std::to_string(all) + ": " +
                  pod.ns + "/" + pod.name);
    std::string error;
    switch (import_pod(writer, terms, pod, error)) {
      case Outcome::kImported:
        ++out.pods;
        break;
      case Outcome::kGone:
        ++out.gone;
        break;
      case Outcome::kFailed:
        out.error = pod.ns + "/" + pod.name + ": " + error;
        return out;
    }
  }
  return out;
}

}  // namespace berth::cli::migrate
