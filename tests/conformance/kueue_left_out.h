// The parts of a recording that are not played: objects of kinds that Berth does not manage, and what the recording
// shows of them. The list is tests/conformance/kueue_left_out.yaml.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/json.h"

namespace berth::conformance {

class LeftOut {
 public:
  // Throws std::runtime_error when the list names something that the recording does not have.
  LeftOut(const std::string& name, const Json& recording);

  bool object(const Json& object) const;  // an object that is created, or owned by a left-out object
  bool named(std::string_view kind, std::string_view name) const;
  // of an object, a pod or a pod group
  bool name(std::string_view name) const { return names_.contains(std::string(name)); }
  bool workload(std::string_view name) const;  // "<workload of a>", "<workload of a-pod1>", or a pod group's workload
  bool pod(std::string_view name) const;       // "<a-pod1>" or, of a StatefulSet, "a-0": the pod of a left-out object
  // The counts in a queue's status are not compared: they include left-out objects.
  bool counts_of(std::string_view queue) const { return queues_.contains(std::string(queue)); }
  bool on(std::string_view subject) const;  // "Pod/<a-pod1>", "Workload/<workload of a>"

 private:
  void add(const Json& object);

  std::set<std::string> kinds_;
  std::set<std::string> objects_;  // "Job/js-0"
  std::set<std::string> names_;
  std::set<std::string> queues_;
};

// Removes the left-out gates from the head of a recording. Throws like the constructor.
void leave_out_gates(const std::string& name, Json& recording);

}  // namespace berth::conformance
