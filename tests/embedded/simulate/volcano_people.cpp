#include "embedded/simulate/volcano_people.h"

#include <algorithm>
#include <utility>

#include "api/resources.h"

namespace berth::simulation {
namespace {

constexpr std::uint64_t kQueueCount = 10;

std::string queue_name(std::uint64_t n) { return "q" + number(n); }

// Numbers in parsed JSON are signed; use the same type here.
std::int64_t whole(std::uint64_t n) { return static_cast<std::int64_t>(n); }

bool is_closed(const Json& queue) {
  const auto state = string_at(queue, {"status", "state"});
  return !state.empty() && state != "Open";
}

Json target_of(std::string_view api_version, std::string_view kind, const Json& object) {
  return JsonObject{{"apiVersion", api_version},
                    {"kind", kind},
                    {"name", string_at(object, {"metadata", "name"})},
                    {"uid", string_at(object, {"metadata", "uid"})}};
}

}  // namespace

std::vector<std::string> possible_queues() {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < kQueueCount; ++i) names.push_back(queue_name(i));
  return names;
}

VolcanoPeople::VolcanoPeople(api::RestClient& client, std::uint64_t seed, bool lawful)
    : random_(seed * 6007 + 5), hands_(client, random_), lawful_(lawful) {}

std::string VolcanoPeople::some_queue() {
  if (random_.chance(20)) return "nobody";
  if (leaves_.empty() || random_.chance(50)) return queue_name(random_.below(kQueueCount));
  return leaves_[random_.below(leaves_.size())];
}

void VolcanoPeople::look_for_leaves() {
  hands_.list(api::kVolcanoQueues, [this](const std::vector<Json>& queues) {
    std::set<std::string> parents{"root"};
    for (const Json& queue : queues) parents.emplace(string_at(queue, {"spec", "parent"}));
    leaves_.clear();
    for (const Json& queue : queues) {
      std::string name(string_at(queue, {"metadata", "name"}));
      if (!parents.contains(name) && !is_closed(queue)) leaves_.push_back(std::move(name));
    }
  });
}

Json VolcanoPeople::amounts(std::uint64_t most) {
  Json spec = JsonObject();
  const auto write = [&](const char* resource, const std::string& unit) {
    std::uint64_t capability = 1 + random_.below(most), deserved = random_.below(capability + 1),
                  guarantee = random_.below(deserved + 1);
    if (!lawful_ && random_.chance(200)) std::swap(capability, guarantee);
    if (random_.chance(600)) ensure_path(spec, {"capability", resource}) = number(capability) + unit;
    if (random_.chance(300)) return;
    ensure_path(spec, {"deserved", resource}) = number(deserved) + unit;
    if (random_.chance(600)) ensure_path(spec, {"guarantee", "resource", resource}) = number(guarantee) + unit;
  };
  write("cpu", "");
  if (random_.chance(400)) write("memory", "Gi");
  return spec;
}

std::vector<Json> VolcanoPeople::estate() {
  std::vector<Json> objects = {
      yaml("{apiVersion: v1, kind: Namespace, metadata: {name: a}}"),
      yaml("{apiVersion: v1, kind: Namespace, metadata: {name: " + std::string(kNamespaceWithQueue) +
           ", annotations: {scheduling.volcano.sh/queue-name: " + std::string(kQueueOfNamespace) + "}}}"),
      yaml("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 100}"),
      yaml("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: -5}"),
  };
  const auto queue = [&](const std::string& name, Json spec) {
    Json object = yaml("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: " + name + "}}");
    ensure_path(object, {"spec"}) = std::move(spec);
    objects.push_back(std::move(object));
  };
  Json root = JsonObject{{"reclaimable", false}};
  if (random_.chance(500)) ensure_path(root, {"capability", "cpu"}) = number(12 + random_.below(24));
  queue("root", std::move(root));
  queue("default", JsonObject());
  // Departments are top-level queues. Their teams are child queues and get half of the department's amounts each.
  const std::uint64_t departments = 2 + random_.below(2);
  for (std::uint64_t i = 0; i < departments; ++i) {
    const std::uint64_t guarantee = random_.below(5), deserved = guarantee + 2 + random_.below(6);
    Json spec = JsonObject();
    ensure_path(spec, {"deserved", "cpu"}) = number(deserved);
    ensure_path(spec, {"guarantee", "resource", "cpu"}) = number(guarantee);
    if (random_.chance(600)) ensure_path(spec, {"capability", "cpu"}) = number(deserved + random_.below(8));
    queue(queue_name(i), std::move(spec));
    for (std::uint64_t team = 0; team < 2 && random_.chance(700); ++team) {
      Json half = JsonObject{{"parent", queue_name(i)}, {"priority", whole(random_.below(2))}};
      ensure_path(half, {"deserved", "cpu"}) = number(deserved / 2);
      ensure_path(half, {"guarantee", "resource", "cpu"}) = number(guarantee / 2);
      if (random_.chance(300)) half.as_object()["dequeueStrategy"] = "fifo";
      queue(queue_name(departments + 2 * i + team), std::move(half));
    }
  }
  const std::string shared(kSharedQueue);
  objects.push_back(yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + shared +
                         "}, spec: {namespaceSelector: {}, cohortName: volcano.root, preemption: {reclaimWithinCohort: "
                         "Any}, resourceGroups: "
                         "[{coveredResources: [cpu], flavors: [{name: volcano, resources: [{name: cpu, nominalQuota: "
                         "4}]}]}]}}"));
  objects.push_back(yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: volcano}}"));
  objects.push_back(yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + shared +
                         ", namespace: a}, spec: {clusterQueue: " + shared + "}}"));
  return objects;
}

void VolcanoPeople::act() {
  tend();
  look_for_leaves();
  switch (random_.below(30)) {
    case 0:
      return hands_.remove_some(random_.chance(600) ? api::kVolcanoJobs : api::kPodGroups);
    case 1:
    case 2:
      return order_queue();
    case 3:
      return order_job();
    case 4:
    case 5:
      return plant();
    case 6:
    case 7:
      return change_amounts();
    case 8:
      return change_manners();
    case 9:
      return move();
    case 10:
      return fell();
    case 11:
      return scale_job();
    case 12:
      return random_.chance(300) ? scribble() : lose_pod();
    case 13:
    case 14:
    case 15:
      return submit_shared();
    case 16:
    case 17:
    case 18:
    case 19:
      return submit_group();
    default:
      return submit_job();
  }
}

Json VolcanoPeople::pod_spec() {
  Json spec = yaml("{restartPolicy: Never, containers: [{name: c, image: i}]}");
  spec.as_object()["terminationGracePeriodSeconds"] = whole(random_.below(20));
  Json requests = JsonObject{{"cpu", number(1 + random_.below(3))}};
  if (random_.chance(400)) requests.as_object()["memory"] = number(1 + random_.below(3)) + "Gi";
  ensure_path(spec.as_object()["containers"].as_array()[0], {"resources", "requests"}) = std::move(requests);
  return spec;
}

void VolcanoPeople::submit_job() {
  Json job = yaml("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j" + number(++jobs_) + "}}");
  JsonArray tasks;
  std::uint64_t pods = 0;
  // All tasks have the same pod spec: if the minimum fits, each pod above it fits too.
  const Json spec_of_all = pod_spec();
  for (std::uint64_t i = 0; i <= random_.below(2); ++i) {
    const std::uint64_t replicas = 1 + random_.below(4);
    pods += replicas;
    Json task = JsonObject{{"name", "t" + number(i)}, {"replicas", whole(replicas)}};
    ensure_path(task, {"template", "metadata", "annotations", "berth.dev/run-for"}) =
        number(1 + random_.below(90)) + "s";
    if (random_.chance(50)) ensure_path(task, {"template", "metadata", "annotations", "berth.dev/exit-code"}) = "1";
    ensure_path(task, {"template", "spec"}) = spec_of_all;
    tasks.push_back(std::move(task));
  }
  Json spec = JsonObject{
      {"queue", some_queue()}, {"minAvailable", whole(1 + random_.below(pods))}, {"tasks", std::move(tasks)}};
  if (random_.chance(300)) spec.as_object()["priorityClassName"] = pick(random_, {"high", "low"});
  if (random_.chance(150)) spec.as_object()["policies"] = yaml("[{event: PodFailed, action: RestartJob}]");
  if (random_.chance(150)) spec.as_object()["policies"] = yaml("[{event: PodEvicted, action: RestartJob}]");
  if (random_.chance(200)) spec.as_object()["ttlSecondsAfterFinished"] = whole(random_.below(60));
  ensure_path(job, {"spec"}) = std::move(spec);
  hands_.create(api::kVolcanoJobs, pick(random_, {"a", "b"}), std::move(job));
}

void VolcanoPeople::submit_group() {
  const std::uint64_t pods = 1 + random_.below(3), cpu = 1 + random_.below(3);
  Json group = yaml("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g" + number(++jobs_) +
                    ", labels: {owner: people}}}");
  Json spec = JsonObject{{"queue", some_queue()}, {"minMember", whole(pods)}};
  if (!random_.chance(100)) ensure_path(spec, {"minResources", "cpu"}) = number(pods * cpu);
  if (random_.chance(300)) spec.as_object()["priorityClassName"] = pick(random_, {"high", "low"});
  ensure_path(group, {"spec"}) = std::move(spec);
  ensure_path(group, {"metadata", "annotations", "each"}) = number(cpu);
  hands_.create(api::kPodGroups, pick(random_, {"a", "b"}), std::move(group));
}

void VolcanoPeople::tend() {
  hands_.list(api::kPodGroups, [this](const std::vector<Json>& groups) {
    for (const Json& group : groups) {
      if (string_at(group, {"metadata", "labels", "owner"}) != "people") continue;
      const auto phase = string_at(group, {"status", "phase"});
      const std::string uid(string_at(group, {"metadata", "uid"}));
      // A preempted group gets new pods when it is admitted again.
      if (phase == "Pending") tended_.erase(uid);
      if (phase != "Inqueue" || !tended_.insert(uid).second) continue;
      const auto pods = static_cast<std::uint64_t>(int_at(group, {"spec", "minMember"})) + random_.below(3);
      for (std::uint64_t i = 0; i < pods; ++i) {
        Json pod = yaml("{apiVersion: v1, kind: Pod, metadata: {name: p" + number(++members_) +
                        "}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}");
        ensure_path(pod, {"metadata", "annotations"}) =
            JsonObject{{"scheduling.k8s.io/group-name", string_at(group, {"metadata", "name"})},
                       {"berth.dev/run-for", number(1 + random_.below(60)) + "s"}};
        ensure_path(pod.as_object()["spec"].as_object()["containers"].as_array()[0], {"resources", "requests", "cpu"}) =
            string_at(group, {"metadata", "annotations", "each"});
        hands_.create(api::kPods, std::string(string_at(group, {"metadata", "namespace"})), std::move(pod));
      }
    }
  });
}

void VolcanoPeople::submit_shared() {
  Json job = yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: k" + number(++jobs_) +
                  ", labels: {kueue.x-k8s.io/queue-name: " + std::string(kSharedQueue) +
                  "}}, spec: {suspend: true, template: {metadata: {annotations: {berth.dev/run-for: " +
                  number(1 + random_.below(60)) +
                  "s}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: " +
                  number(1 + random_.below(3)) + "}}}]}}}}");
  ensure_path(job, {"spec", "parallelism"}) = whole(1 + random_.below(2));
  hands_.create(api::kJobs, "a", std::move(job));
}

// --- Queues.

void VolcanoPeople::plant() {
  Json queue = yaml("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: " +
                    queue_name(random_.below(kQueueCount)) + "}}");
  ensure_path(queue, {"spec"}) = amounts(random_.chance(500) ? 4 : 16);
  if (random_.chance(700)) ensure_path(queue, {"spec", "parent"}) = queue_name(random_.below(kQueueCount));
  hands_.create(api::kVolcanoQueues, "", std::move(queue));
}

void VolcanoPeople::change_amounts() {
  hands_.patch_some(api::kVolcanoQueues, "", [this](const Json& queue) {
    if (string_at(queue, {"metadata", "name"}) == "root") return Json();
    Json spec = amounts(random_.chance(500) ? 6 : 20);
    for (const char* member : {"capability", "deserved", "guarantee"}) {
      if (find(spec, member) == nullptr) spec.as_object()[member] = nullptr;
    }
    return Json(JsonObject{{"spec", std::move(spec)}});
  });
}

void VolcanoPeople::change_manners() {
  hands_.patch_some(api::kVolcanoQueues, "", [this](const Json& queue) {
    if (string_at(queue, {"metadata", "name"}) == "root") return Json();
    return Json(JsonObject{{"spec", JsonObject{{"reclaimable", random_.chance(700)},
                                               {"priority", whole(random_.below(3))},
                                               {"dequeueStrategy", pick(random_, {"fifo", "traverse", "traverse"})}}}});
  });
}

void VolcanoPeople::move() {
  hands_.patch_some(api::kVolcanoQueues, "", [this](const Json& queue) {
    const auto name = string_at(queue, {"metadata", "name"});
    if (name == "root" || name == "default") return Json();
    const std::string parent = random_.chance(400) ? "root" : queue_name(random_.below(kQueueCount));
    return Json(JsonObject{{"spec", JsonObject{{"parent", parent}}}});
  });
}

void VolcanoPeople::fell() {
  hands_.list(api::kVolcanoQueues, [this](const std::vector<Json>& queues) {
    if (queues.size() < 5) return;
    hands_.remove(api::kVolcanoQueues, queues[random_.below(queues.size())], "");
  });
}

// Writes a wrong state into a queue's status, as a client with the right to write statuses may do.
void VolcanoPeople::scribble() {
  hands_.patch_some(api::kVolcanoQueues, "status", [this](const Json&) {
    return Json(JsonObject{{"status", JsonObject{{"state", pick(random_, {"Unknown", "Open", "Closing"})}}}});
  });
}

// --- Commands.

void VolcanoPeople::order(const std::string& ns, const std::string& action, Json target) {
  Json command =
      yaml("{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: o" + number(++orders_) + "}}");
  command.as_object()["action"] = action;
  command.as_object()["target"] = std::move(target);
  hands_.create(api::kVolcanoCommands, ns, std::move(command));
}

void VolcanoPeople::order_queue() {
  hands_.list(api::kVolcanoQueues, [this](const std::vector<Json>& queues) {
    if (queues.empty()) return;
    const Json& queue = queues[random_.below(queues.size())];
    order("a", is_closed(queue) ? "OpenQueue" : pick(random_, {"CloseQueue", "OpenQueue"}),
          target_of("scheduling.volcano.sh/v1beta1", "Queue", queue));
  });
}

void VolcanoPeople::order_job() {
  hands_.list(api::kVolcanoJobs, [this](const std::vector<Json>& jobs) {
    if (jobs.empty()) return;
    const Json& job = jobs[random_.below(jobs.size())];
    order(std::string(string_at(job, {"metadata", "namespace"})),
          pick(random_, {"AbortJob", "ResumeJob", "RestartJob", "TerminateJob", "CompleteJob"}),
          target_of("batch.volcano.sh/v1alpha1", "Job", job));
  });
}

void VolcanoPeople::scale_job() {
  hands_.patch_some(api::kVolcanoJobs, "", [this](const Json& job) {
    Json tasks = Json(array_at(job, {"spec", "tasks"}));
    if (tasks.as_array().empty()) return Json();
    Json& task = tasks.as_array()[random_.below(tasks.as_array().size())];
    const std::uint64_t replicas = 1 + random_.below(5);
    task.as_object()["replicas"] = whole(replicas);
    task.as_object()["minAvailable"] = whole(1 + random_.below(replicas));
    return Json(JsonObject{{"spec", JsonObject{{"minAvailable", 1}, {"tasks", std::move(tasks)}}}});
  });
}

void VolcanoPeople::lose_pod() {
  hands_.list(api::kPods, [this](const std::vector<Json>& pods) {
    if (!pods.empty()) hands_.remove(api::kPods, pods[random_.below(pods.size())], "");
  });
}

// --- The end.

// Deletes PodGroups whose pods are all gone but which are not Completed: they would never end by themselves.
void VolcanoPeople::give_up_lost() {
  hands_.list(api::kPods, [this](const std::vector<Json>& pods) {
    std::set<std::string> alive;
    for (const Json& pod : pods) {
      const auto phase = string_at(pod, {"status", "phase"});
      if (phase != "Succeeded" && phase != "Failed")
        alive.insert(std::string(string_at(pod, {"metadata", "annotations", "scheduling.k8s.io/group-name"})));
    }
    hands_.list(api::kPodGroups, [this, alive](const std::vector<Json>& groups) {
      for (const Json& group : groups) {
        const bool lost = tended_.contains(std::string(string_at(group, {"metadata", "uid"}))) &&
                          !alive.contains(std::string(string_at(group, {"metadata", "name"})));
        if (lost && string_at(group, {"status", "phase"}) != "Completed") hands_.remove(api::kPodGroups, group, "");
      }
    });
  });
}

void VolcanoPeople::calm_down() {
  give_up_lost();
  tend();
  if (!lawful_) {
    hands_.patch_all(api::kVolcanoQueues, "", [](const Json& queue) {
      const JsonObject& spec = object_at(queue, {"spec"});
      const bool limited = spec.contains("capability") || spec.contains("deserved") || spec.contains("guarantee");
      if (!limited && string_at(queue, {"spec", "parent"}, "root") == "root") return Json();
      return Json(JsonObject{
          {"spec",
           JsonObject{{"parent", "root"}, {"capability", nullptr}, {"deserved", nullptr}, {"guarantee", nullptr}}}});
    });
  }
  hands_.list(api::kVolcanoQueues, [this](const std::vector<Json>& queues) {
    for (const Json& queue : queues) {
      if (is_closed(queue)) order("a", "OpenQueue", target_of("scheduling.volcano.sh/v1beta1", "Queue", queue));
    }
  });
}

}  // namespace berth::simulation
