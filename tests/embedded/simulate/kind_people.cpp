#include "embedded/simulate/kind_people.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "api/resources.h"
#include "base/yaml.h"
#include "jobs/kinds/read/shipped.h"
#include "source_dir.h"

namespace berth::simulation {
namespace {

// So few names of each kind: most of them have been used before.
constexpr std::uint64_t kNamesOfAKind = 2;

std::vector<std::filesystem::path> sample_files() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("config/samples/kinds")))
    out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

Json run_times(const Json& value, const JsonObject& annotations) {
  if (value.is_array()) {
    JsonArray out;
    for (const Json& one : value.get_array()) out.push_back(run_times(one, annotations));
    return out;
  }
  if (!value.is_object()) return value;
  JsonObject out;
  for (const auto& [key, one] : value.get_object()) out[key] = run_times(one, annotations);
  if (out.contains("berth.dev/run-for")) {
    for (const auto& [key, one] : annotations) out[key] = one;
  }
  return out;
}

}  // namespace

KindPeople::KindPeople(api::RestClient& client, std::uint64_t seed) : random_(seed * 41 + 7), hands_(client, random_) {
  for (const auto& path : sample_files()) {
    std::ifstream in(path);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    auto documents = parse_yaml(text).value();
    for (Json& document : documents) {
      const auto kind = std::ranges::find_if(jobs::kinds::shipped_job_kinds(), [&](const auto& one) {
        return one->kind == string_at(document, {"kind"}) && one->api_version() == string_at(document, {"apiVersion"});
      });
      if (kind == jobs::kinds::shipped_job_kinds().end())
        needed_.push_back(std::move(document));
      else
        samples_.push_back({*kind, std::move(document)});
    }
  }
}

std::vector<Json> KindPeople::estate() {
  std::vector<Json> objects = {
      yaml("{apiVersion: v1, kind: Namespace, metadata: {name: a}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 100}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: room}, spec: {levels: [{nodeLabel: "
           "cloud.provider.com/topology-rack}, {nodeLabel: kubernetes.io/hostname}]}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: racked}, spec: {topologyName: "
           "room, nodeLabels: {cloud.provider.com/node-group: tas-group}}}")};
  for (const std::string name : {"q0", "q1"}) {
    objects.push_back(
        yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + name +
             "}, spec: {namespaceSelector: {}, cohortName: all, queueingStrategy: BestEffortFIFO, preemption: "
             "{reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: "
             "[cpu, memory], flavors: [{name: " +
             std::string(name == "q0" ? "f" : "racked") + ", resources: [{name: cpu, nominalQuota: " +
             number(5 + random_.below(6)) + "}, {name: memory, nominalQuota: 64Gi}]}]}]}}"));
    objects.push_back(yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + name +
                           ", namespace: a}, spec: {clusterQueue: " + name + "}}"));
  }
  for (const Json& one : needed_) objects.push_back(one);
  return objects;
}

const jobs::kinds::JobKindSpec& KindPeople::some_kind() { return *samples_[random_.below(samples_.size())].kind; }

void KindPeople::act() {
  switch (random_.below(16)) {
    case 0:
    case 1:
      return flip_suspend();
    case 2:
      return edit_status();
    case 3:
      return change_labels();
    case 4:
    case 5:
      return remove();
    case 6:
      return random_.chance(300) ? hands_.remove_some(api::kWorkloads) : edit_workload();
    case 7:
      return edit_queue();
    case 8:
    case 9:
      return hands_.remove_some(api::kPods);
    default:
      return submit();
  }
}

// One in ten stays without a queue, and one in ten gets a queue that does not exist.
void KindPeople::submit() {
  ++jobs_;
  const Sample& sample = samples_[random_.below(samples_.size())];
  JsonObject annotations{{"berth.dev/run-for", number(1 + random_.below(90)) + "s"},
                         {"berth.dev/stop-after", number(random_.below(20)) + "s"}};
  if (random_.chance(150)) annotations["berth.dev/exit-code"] = "1";
  Json job = run_times(sample.job, annotations);
  Json& meta = ensure_path(job, {"metadata"});
  // Pods are named after their job alone: jobs of two kinds with one name would wait for each other.
  meta = JsonObject{{"name", sample.kind->resource.resource + number(random_.below(kNamesOfAKind))}};
  if (!random_.chance(100)) {
    ensure_path(meta, {"labels", "kueue.x-k8s.io/queue-name"}) =
        "q" + number(random_.chance(100) ? 2 : random_.below(2));
    if (random_.chance(200)) ensure_path(meta, {"labels", "kueue.x-k8s.io/priority-class"}) = "high";
  }
  hands_.create(sample.kind->resource, "a", std::move(job));
}

void KindPeople::flip_suspend() {
  const auto& kind = some_kind();
  hands_.patch_some(kind.resource, "", [this, &kind](const Json&) {
    Json patch = JsonObject();
    jobs::kinds::ensure_at(patch, kind.suspend) = random_.chance(500);
    return patch;
  });
}

void KindPeople::edit_status() {
  hands_.patch_some(some_kind().resource, "status", [this](const Json& job) {
    if (random_.chance(500)) return Json(JsonObject{{"metadata", JsonObject()}, {"status", nullptr}});
    JsonArray conditions;
    for (const Json& one : array_at(job, {"status", "conditions"})) {
      if (!random_.chance(500)) conditions.push_back(one);
    }
    return Json(JsonObject{{"status", JsonObject{{"conditions", std::move(conditions)}}}});
  });
}

void KindPeople::change_labels() {
  hands_.patch_some(some_kind().resource, "", [this](const Json&) {
    return Json(JsonObject{
        {"metadata",
         JsonObject{
             {"labels", JsonObject{{"kueue.x-k8s.io/queue-name",
                                    random_.chance(100) ? Json(nullptr) : Json("q" + number(random_.below(3)))}}}}}});
  });
}

void KindPeople::remove() {
  const auto& kind = some_kind();
  hands_.list(kind.resource, [this, &kind](const std::vector<Json>& jobs) {
    if (jobs.empty()) return;
    hands_.remove(kind.resource, jobs[random_.below(jobs.size())],
                  pick(random_, {"Background", "Background", "Foreground"}));
  });
}

void KindPeople::edit_workload() {
  hands_.patch_some(api::kWorkloads, "", [this](const Json&) {
    return Json(JsonObject{{"spec", JsonObject{{"active", random_.chance(500)}}}});
  });
}

void KindPeople::edit_queue() {
  hands_.patch_some(api::kClusterQueues, "", [this](const Json&) {
    return Json(
        JsonObject{{"spec", JsonObject{{"stopPolicy", pick(random_, {"None", "None", "Hold", "HoldAndDrain"})}}}});
  });
}

void KindPeople::calm_down() {
  hands_.patch_all(api::kClusterQueues, "",
                   [](const Json&) { return Json(JsonObject{{"spec", JsonObject{{"stopPolicy", "None"}}}}); });
  hands_.patch_all(api::kWorkloads, "", [](const Json& workload) {
    if (bool_at(workload, {"spec", "active"}, true)) return Json();
    return Json(JsonObject{{"spec", JsonObject{{"active", true}}}});
  });
}

void KindPeople::clear_away() {
  for (const auto& sample : samples_) {
    hands_.list(sample.kind->resource, [this, &sample](const std::vector<Json>& jobs) {
      for (const Json& job : jobs) {
        if (find_path(job, {"metadata", "deletionTimestamp"}) == nullptr)
          hands_.remove(sample.kind->resource, job, "Background");
      }
    });
  }
}

}  // namespace berth::simulation
