// The objects of one kind that own groups of pods, such as StatefulSets: PodController looks after the groups.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/pods/served_group.h"
#include "kube/informer.h"

namespace berth::controller {

// A set has at most this many groups with a workload: each of them costs objects on the API server. Larger numbers are
// mistakes.
inline constexpr std::int64_t kMaxServedGroups = 10'000;

// Whether this is a reference to an object of the kind that its cache does not have.
bool is_lacking(const kube::Informer& cache, const jobs::JobKind& kind, std::string_view ns,
                const api::OwnerReference& owner);

class ServedSets {
 public:
  struct Kind {
    std::function<std::int64_t(const Json& set)> groups;  // how many it has now
    std::function<std::string(const Json& set, std::int64_t index)> name;
    std::function<jobs::ServedGroupState(const JsonPtr& set, std::int64_t index)> state;
  };
  using Changed = std::function<void(const std::string& ns, const std::string& group, bool gone)>;
  // `managed`: whether Berth manages this set now. `changed` is called for each group whose owner changed; `gone`: the
  // owner does not exist any more.
  ServedSets(kube::Informer& sets, Kind kind, std::function<bool(const Json& set)> managed, Changed changed);

  void set_changed(const JsonPtr& old, const JsonPtr& now);
  // Calls `changed` for every group.
  void look_at_all() const;
  // The group as its set has it; null: no set has this group.
  jobs::ServedGroupPtr group(std::string_view ns, std::string_view name) const;
  // The set with a group of this name; null: there is none.
  JsonPtr set_with(std::string_view ns, std::string_view name) const;
  // Completes the state of a group. While its set is being deleted, the group is not managed.
  jobs::ServedGroupPtr completed(jobs::ServedGroupState group) const;

 private:
  struct Set {
    std::string uid;
    std::vector<std::string> groups;  // their names, by index
  };
  struct Place {
    std::string set;  // its key ("namespace/name")
    std::int64_t index = 0;
  };

  kube::Informer& sets_;
  Kind kind_;
  std::function<bool(const Json& set)> managed_;
  Changed changed_;
  std::map<std::string, Set> known_;       // by key
  std::map<std::string, Place> by_group_;  // by the key of the group
};

}  // namespace berth::controller
