// What webhooks and the embedded server know of Volcano's queues at admission, updated one object at a time, and the
// rules based on it. The owner must report every change; a verdict is based on the changes reported so far.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "volcano/admission_rules.h"

namespace berth::volcano {

class AdmissionState {
 public:
  // `holders_in` may be empty. The number of workloads that hold quota in a queue is the larger of `holders_in` and
  // the number of PodGroups with minResources that were admitted and have not ended.
  explicit AdmissionState(AdmissionOptions options = {}, HoldersIn holders_in = {});

  // An object of Volcano was created (`old` is null), changed or deleted (`now` is null). A Queue that cannot be
  // decoded counts with its name and parent only; such a PodGroup holds no quota. Other kinds are ignored.
  void changed(std::string_view group, std::string_view resource, const Json* old, const Json* now);

  // The same as admission_rules(), based on what is known when a rule is called. The rules may outlive this object.
  api::kueue::AdmissionRules rules(std::string_view group, std::string_view resource) const;

 private:
  struct State {
    State(AdmissionOptions options, HoldersIn asked);
    std::size_t holders(std::string_view queue) const;
    void queue_changed(const Json* old, const Json* now);
    void pod_group_changed(const Json* old, const Json* now);

    QueueForest forest;
    std::map<std::string, std::set<std::string>, std::less<>> held;  // queue -> keys of PodGroups
    HoldersIn asked;
    Admission admission;
  };
  std::shared_ptr<State> state_;
};

}  // namespace berth::volcano
