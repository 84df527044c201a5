// A LeaderWorkerSet and its pods, as its controller reads and creates them.
// https://lws.sigs.k8s.io/docs/concepts/
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace berth::cluster {

struct LwsSpec {
  explicit LwsSpec(const Json& set);

  const Json& object;
  std::string name, ns, uid;
  std::string revision;  // a hash of the templates
  bool deleting = false;
  std::int64_t replicas = 1, size = 1;
  bool workers_wait = false;  // startupPolicy LeaderReady: workers are created when their leader is ready
  // What happens to a group when one of its pods fails, is deleted, or restarts a container.
  enum class Restart { kPodOnly, kGroup, kGroupAfterStart } restart = Restart::kGroup;
  // Of a rolling update.
  std::int64_t max_surge = 0, max_unavailable = 1, partition = 0;

  const Json& template_of(std::int64_t worker) const;
};

struct LwsPod {
  explicit LwsPod(const JsonPtr& pod);

  JsonPtr object;
  std::string name, uid, revision;
  std::int64_t group = -1, worker = -1;  // -1: the pod does not say
  bool ready = false, pending = false, ended = false, restarted = false, deleting = false;
};

std::string lws_pod_name(const LwsSpec& set, std::int64_t group, std::int64_t worker);
// The objects to create. A leader belongs to the set, a worker to its leader.
Json make_lws_leader(const LwsSpec& set, std::int64_t group);
Json make_lws_worker(const LwsSpec& set, const LwsPod& leader, std::int64_t worker);

}  // namespace berth::cluster
