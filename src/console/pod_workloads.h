// Which workload a pod belongs to. A pod may say it: pods that are placed by topology, and pods of groups. For the
// others the workload's owner tells: it is the pod itself, its controller, or the JobSet above its Job.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::console {

// What a pod tells about its workload.
struct PodOrigin {
  std::string workload;             // its name, when the pod says it
  std::vector<std::string> owners;  // else: uids, one of which may be that of the workload's owner

  static PodOrigin of(const Json& pod);
};

class PodWorkloads {
 public:
  // `key`: "namespace/name"; null: it is deleted. Returns the uids of owners whose workload is another one now.
  std::vector<std::string> workload_changed(const std::string& key, const Json* now);
  // The name of the workload in the pod's namespace; "" when it is not known.
  std::string name(std::string_view ns, const PodOrigin& origin) const;

 private:
  std::map<std::string, std::string, std::less<>> owner_of_;     // by workload
  std::map<std::string, std::string, std::less<>> workload_of_;  // by the owner's uid
};

}  // namespace berth::console
