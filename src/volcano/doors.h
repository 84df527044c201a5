// What the doors of admission (webhooks, the embedded server) know of Volcano's queues, kept up to date one object at a
// time, and the rules that judge by it. Whoever keeps a door tells it every change; a verdict holds for what it was
// told until then.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "volcano/admission_rules.h"

namespace berth::volcano {

class Doors {
 public:
  // `holders_in` may be empty. A queue counts as held by as many workloads as it says, or as PodGroups with
  // minResources say that have been let in and have not ended, whichever is more.
  explicit Doors(AdmissionOptions options = {}, HoldersIn holders_in = {});

  // An object of Volcano was created (`old` null), changed or removed (`now` null). What cannot be decoded counts with
  // its name and parent alone; what is neither a queue nor a PodGroup is not looked at.
  void changed(std::string_view group, std::string_view resource, const Json* old, const Json* now);

  // As admission_rules(), by what is known when they are asked; they may outlive this.
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
