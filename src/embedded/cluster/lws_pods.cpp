#include "embedded/cluster/lws_pods.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "api/core/pod_phase.h"
#include "api/leaderworkerset/names.h"
#include "api/leaderworkerset/rolling_update.h"
#include "api/object_condition.h"
#include "base/digest.h"
#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster {
namespace {

namespace lws = api::leaderworkerset;

constexpr std::size_t kRevisionDigits = 10;
constexpr std::size_t kGroupKeyDigits = 40;

std::int64_t index_or(std::string_view text, std::int64_t otherwise) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

LwsSpec::Restart restart_of(std::string_view policy) {
  if (policy == "RecreateGroupAfterStart") return LwsSpec::Restart::kGroupAfterStart;
  return policy == "RecreateGroupOnPodRestart" ? LwsSpec::Restart::kGroup : LwsSpec::Restart::kPodOnly;
}

bool has_restarted(const Json& pod) {
  for (const std::string_view kind : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& status : array_at(pod, {"status", kind})) {
      if (int_at(status, {"restartCount"}) > 0) return true;
    }
  }
  return false;
}

Json owned_by_controller(std::string_view api_version, std::string_view kind, std::string_view name,
                         std::string_view uid) {
  return JsonArray{JsonObject{{"apiVersion", api_version},
                              {"kind", kind},
                              {"name", name},
                              {"uid", uid},
                              {"controller", true},
                              {"blockOwnerDeletion", true}}};
}

// The variables that the containers of a group find each other with come first, so that others may refer to them.
void add_variables(Json& spec, const LwsSpec& set, std::int64_t group, std::int64_t worker) {
  const std::string leader = lws_pod_name(set, group, 0);
  for (const std::string_view kind : {"initContainers", "containers"}) {
    Json* containers = find_path(spec, {kind}) == nullptr ? nullptr : &ensure_path(spec, {kind});
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : containers->get_array()) {
      if (!container.is_object()) continue;
      JsonArray variables{JsonObject{{"name", "LWS_LEADER_ADDRESS"}, {"value", leader + "." + set.name + "." + set.ns}},
                          JsonObject{{"name", "LWS_GROUP_SIZE"}, {"value", std::to_string(set.size)}},
                          JsonObject{{"name", "LWS_WORKER_INDEX"}, {"value", std::to_string(worker)}}};
      for (const Json& given : array_at(container, {"env"})) variables.push_back(given);
      ensure_path(container, {"env"}) = std::move(variables);
    }
  }
}

Json make_lws_pod(const LwsSpec& set, std::int64_t group, std::int64_t worker, std::string_view revision, Json owners) {
  const Json& given = set.template_of(worker);
  Json meta = JsonObject(), spec = JsonObject();
  for (const std::string_view member : {"labels", "annotations"}) {
    ensure_path(meta, {member}) = object_at(given, {"metadata", member});
  }
  const auto label = [&](std::string_view key, std::string_view value) { ensure_path(meta, {"labels", key}) = value; };
  label(lws::kSetName, set.name);
  label(lws::kGroupIndex, std::to_string(group));
  label(lws::kGroupKey, sha1_digits(set.ns + "/" + lws_pod_name(set, group, 0), kGroupKeyDigits));
  label(lws::kWorkerIndex, std::to_string(worker));
  label(lws::kRevision, revision);
  ensure_path(meta, {"annotations", lws::kSize}) = std::to_string(set.size);
  if (worker > 0) ensure_path(meta, {"annotations", lws::kLeaderName}) = lws_pod_name(set, group, 0);
  if (const auto key = string_at(set.object, {"metadata", "annotations", lws::kExclusiveTopology}); !key.empty())
    ensure_path(meta, {"annotations", lws::kExclusiveTopology}) = key;
  ensure_path(meta, {"name"}) = lws_pod_name(set, group, worker);
  ensure_path(meta, {"namespace"}) = set.ns;
  ensure_path(meta, {"ownerReferences"}) = std::move(owners);
  if (const Json* wanted = find_path(given, {"spec"}); wanted != nullptr && wanted->is_object()) spec = *wanted;
  ensure_path(spec, {"hostname"}) = lws_pod_name(set, group, worker);
  ensure_path(spec, {"subdomain"}) = set.name;
  add_variables(spec, set, group, worker);
  return JsonObject{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}, {"spec", std::move(spec)}};
}

}  // namespace

LwsSpec::LwsSpec(const Json& set)
    : object(set),
      name(string_at(set, {"metadata", "name"})),
      ns(string_at(set, {"metadata", "namespace"})),
      uid(string_at(set, {"metadata", "uid"})),
      deleting(find_path(set, {"metadata", "deletionTimestamp"}) != nullptr),
      replicas(lws::replicas_of(set)),
      size(std::max<std::int64_t>(optional_int_at(set, {"spec", "leaderWorkerTemplate", "size"}).value_or(1), 1)),
      workers_wait(string_at(set, {"spec", "startupPolicy"}) == "LeaderReady"),
      restart(restart_of(string_at(set, {"spec", "leaderWorkerTemplate", "restartPolicy"}))) {
  const auto limits = lws::rolling_update_of(set);
  max_surge = limits.max_surge;
  max_unavailable = limits.max_unavailable;
  partition = limits.partition;
  Json hashed = JsonObject();
  for (const std::string_view part : {"leaderTemplate", "workerTemplate"}) {
    if (const Json* value = find_path(set, {"spec", "leaderWorkerTemplate", part}))
      ensure_path(hashed, {part}) = *value;
  }
  revision = sha1_digits(to_string(hashed), kRevisionDigits);
}

const Json& LwsSpec::template_of(std::int64_t worker) const {
  static const Json none = JsonObject();
  const Json* leader = find_path(object, {"spec", "leaderWorkerTemplate", "leaderTemplate"});
  if (worker == 0 && leader != nullptr) return *leader;
  const Json* workers = find_path(object, {"spec", "leaderWorkerTemplate", "workerTemplate"});
  return workers == nullptr ? none : *workers;
}

LwsPod::LwsPod(const JsonPtr& pod)
    : object(pod),
      name(string_at(*pod, {"metadata", "name"})),
      uid(string_at(*pod, {"metadata", "uid"})),
      revision(string_at(*pod, {"metadata", "labels", lws::kRevision})),
      group(index_or(string_at(*pod, {"metadata", "labels", lws::kGroupIndex}), -1)),
      worker(index_or(string_at(*pod, {"metadata", "labels", lws::kWorkerIndex}), -1)),
      ready(api::object_condition_is_true(*pod, "Ready")),
      pending(string_at(*pod, {"status", "phase"}) == "Pending"),
      ended(api::pod_ended(*pod)),
      restarted(has_restarted(*pod)),
      deleting(pod_terminating(*pod)) {}

std::string lws_pod_name(const LwsSpec& set, std::int64_t group, std::int64_t worker) {
  const std::string leader = set.name + "-" + std::to_string(group);
  return worker == 0 ? leader : leader + "-" + std::to_string(worker);
}

Json make_lws_leader(const LwsSpec& set, std::int64_t group) {
  return make_lws_pod(set, group, 0, set.revision,
                      owned_by_controller(lws::kApiVersion, lws::kKind, set.name, set.uid));
}

Json make_lws_worker(const LwsSpec& set, const LwsPod& leader, std::int64_t worker) {
  return make_lws_pod(set, leader.group, worker, leader.revision,
                      owned_by_controller("v1", "Pod", leader.name, leader.uid));
}

}  // namespace berth::cluster
