// The namespace in which a recording of Kueue plays: its objects, and what the recording's placeholders stand for.
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
  // Makes the namespace if it is not there, and goes to it.
  void enter(const std::string& ns, const Json& labels);

  std::vector<Json> list(std::string_view api_version, std::string_view kind);
  std::vector<Json> workloads() { return list("kueue.x-k8s.io/v1beta2", "Workload"); }
  // The workload that is owned by a job of that name; null: there is none.
  Json workload_of(std::string_view job);
  // Those with the label job-name, else of the pod group that nobody owns, else with the label app, else owned by it, else the pod
  // itself.
  std::vector<Json> pods_of(std::string_view name);

  // A value of a request: with the present time, uids and names in place of placeholders.
  Json resolved(const Json& value);
  // A recorded value with what its bound placeholders stand for.
  Json substituted(const Json& value) const;
  // Binds <workload of JOB> to the names that were made up for the workloads of jobs; later ones are <workload of JOB 2>.
  void bind_workloads();
  // A text with those placeholders in place of the names.
  std::string told(std::string_view text) const;

 private:
  std::string uid_of(const std::string& kind, const std::string& name);

  Site& site_;
  std::string ns_;
  Bindings bindings_;
  std::map<std::string, std::string> placeholders_;  // by name of the workload
  std::map<std::string, int> bound_;                 // how many of a job
};

// Throws std::runtime_error with the answer's message when it is no success.
const api::RestResponse& must(const api::RestResponse& response, const std::string& on);

}  // namespace berth::conformance
