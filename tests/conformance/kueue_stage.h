// The namespace in which a recording of Kueue plays: its objects, and the values of the recording's placeholders.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/match.h"
#include "conformance/site.h"

namespace berth::conformance {

class Stage {
 public:
  explicit Stage(Site& site) : site_(site) {}

  Site& site() { return site_; }
  Bindings& bindings() { return bindings_; }
  const std::string& ns() const { return ns_; }
  // Creates the namespace unless it exists, and makes it the current one.
  void enter(const std::string& ns, const Json& labels);

  std::vector<Json> list(std::string_view api_version, std::string_view kind);
  std::vector<Json> workloads() { return list("kueue.x-k8s.io/v1beta2", "Workload"); }
  // The workload that a job of this name owns; null when there is none.
  Json workload_of(std::string_view job);
  // The pods with the label job-name; if there are none, those of the pod group without an owner, then those with the
  // label app, then those that an object of this name owns, then the pod with this name.
  std::vector<Json> pods_of(std::string_view name);

  // A value of a request, with the current time, UIDs and names in place of placeholders.
  Json resolved(const Json& value);
  // A recorded value with the values of bound placeholders.
  Json substituted(const Json& value) const;
  // Binds <workload of JOB> to the generated names of the workloads of jobs; later workloads of a job are <workload
  // of JOB 2>.
  void bind_workloads();
  // Gives pods with generated names, and their workloads, the placeholders of a look (<a-pod1>, <workload of a-pod1>):
  // of the pods without one, the first that looks like the recorded pod, else the first. Another call for the same look
  // starts anew.
  void name_pods(const Json& look);
  // The text with these placeholders in place of the names.
  std::string reported(std::string_view text) const;

 private:
  std::string uid_of(const std::string& kind, const std::string& name);
  void name_pod(const std::string& name, const std::string& placeholder);

  Site& site_;
  std::string ns_;
  Bindings bindings_;
  std::map<std::string, std::string> placeholders_;        // by the name of the workload
  std::map<std::string, int> bound_;                       // number of bound workloads, by job
  std::map<std::string, std::string> pods_, pods_before_;  // placeholders by the name of the pod; before this look
  const Json* named_for_ = nullptr;                        // the look that pods_ belongs to
};

// Throws std::runtime_error with the answer's message unless the answer is a success.
const api::RestResponse& must(const api::RestResponse& response, const std::string& on);

}  // namespace berth::conformance
