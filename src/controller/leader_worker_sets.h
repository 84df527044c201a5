// The LeaderWorkerSets of the cluster as owners of groups of pods, see served_sets.h. Their pods name the set in a
// label, so the group of a pod is known only when its set is.
//
// While a cluster does not serve LeaderWorkerSets, nothing waits for them. The cache keeps trying, with a growing
// delay.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "controller/served_sets.h"
#include "jobs/job_facts.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"

namespace berth::controller {

class LeaderWorkerSets {
 public:
  struct Context {
    api::RestClient& client;
    Executor& executor;
    kube::EventRecorder& events;
    kube::InformerOptions informer_options;
    bool identifier_annotations;                      // see jobs::JobGates
    std::function<bool()> leading;                    // events may be written
    std::function<bool(const Json& set)> managed;     // see ServedSets
    ServedSets::Changed changed;                      // see ServedSets
    std::function<void(const std::string& uid)> pod;  // the group of this pod may be another one now
    std::function<void()> known;                      // the sets were read once, or the cluster does not serve them
    std::function<jobs::WorkloadPtr(std::string_view ns, std::string_view name)> workload;
  };
  explicit LeaderWorkerSets(Context context);

  void read();  // starts the cache
  void look_at_all();
  // The cache of pods has something new.
  void pod_changed(const JsonPtr& old, const JsonPtr& now);

  // See jobs::ServedGroup.
  std::optional<std::string> group_of(const Json& pod) const;
  // See ServedSets::group(). Also knows groups that a set had before, by their workload.
  jobs::ServedGroupPtr group(std::string_view ns, std::string_view name) const;
  // Whether a set may own the workload that was not read yet.
  bool may_be_owned(const api::kueue::Workload& workload) const;

 private:
  void set_changed(const JsonPtr& old, const JsonPtr& now);
  void listed(const api::RestResponse& response);
  void know();
  void tell_about_limit(const Json& set);

  Context context_;
  kube::Informer sets_;
  ServedSets served_;
  bool known_ = false;
  int told_ = 0;  // the last answer to a list that was logged
  // The uids of pods that name a set, by the key of the set.
  std::map<std::string, std::set<std::string>, std::less<>> pods_;
  std::map<std::string, std::string, std::less<>> set_of_pod_;  // the key of the set, by the uid of the pod
  std::map<std::string, std::int64_t, std::less<>> too_many_;   // the last number of groups that was told, by uid
};

}  // namespace berth::controller
