// Which workload a pod belongs to. A pod may say it: pods that are placed by topology, and pods of groups. For the
// others the workload's owner tells: it is the pod itself, its controller, or an object further up: a RayJob above the
// RayCluster of the pod, a TrainJob above a JobSet above a Job.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::console {

// Bounds.
inline constexpr int kMaxOwnersAbove = 8;               // steps from the owner of a pod upwards
inline constexpr std::size_t kMaxOwnersBelow = 10'000;  // owners that one change concerns; further ones follow later

// What a pod tells about its workload.
struct PodOrigin {
  std::string workload;             // its name, when the pod says it
  std::vector<std::string> owners;  // else: uids, one of which may be that of the workload's owner, or below it

  static PodOrigin of(const Json& pod);
};

class PodWorkloads {
 public:
  // `key`: "namespace/name"; null: it is deleted. Returns the uids of owners whose workload is another one now.
  std::vector<std::string> workload_changed(const std::string& key, const Json* now);
  // The same for an object that has an owner itself; only such objects are kept. `key` is unique among all kinds.
  std::vector<std::string> owner_changed(const std::string& key, const Json* now);
  // The name of the workload in the pod's namespace; "" when it is not known.
  std::string name(std::string_view ns, const PodOrigin& origin) const;

 private:
  struct Link {
    std::string uid, above;
    bool operator==(const Link&) const = default;
  };
  // The uids and those of everything below them.
  std::vector<std::string> with_those_below(std::vector<std::string> uids) const;

  std::map<std::string, std::string, std::less<>> owner_of_;     // by workload
  std::map<std::string, std::string, std::less<>> workload_of_;  // by the owner's uid
  std::map<std::string, Link, std::less<>> links_;               // by key
  std::map<std::string, std::string, std::less<>> above_;        // uid of the controller by uid
  std::map<std::string, std::set<std::string>, std::less<>> below_;
};

}  // namespace berth::console
