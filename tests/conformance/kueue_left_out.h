// What of a recording is not played: objects of kinds that are not managed, and what is told of them. The list is
// tests/conformance/kueue_left_out.yaml.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/json.h"

namespace berth::conformance {

class LeftOut {
 public:
  // Throws std::runtime_error when the list names what the recording does not have.
  LeftOut(const std::string& name, const Json& recording);

  bool object(const Json& object) const;                          // one that is created, or owned by such a one
  bool named(std::string_view kind, std::string_view name) const;
  bool name(std::string_view name) const { return names_.contains(std::string(name)); }  // of an object, a pod or a pod group
  bool workload(std::string_view name) const;                     // "<workload of a>", "<workload of a-pod1>", or a pod group's
  // What a queue's status counts is not looked at: it counts objects that are left out, too.
  bool counts_of(std::string_view queue) const { return queues_.contains(std::string(queue)); }
  bool on(std::string_view subject) const;                        // "Pod/<a-pod1>", "Workload/<workload of a>"

 private:
  void add(const Json& object);

  std::set<std::string> kinds_;
  std::set<std::string> objects_;  // "Job/js-0"
  std::set<std::string> names_;
  std::set<std::string> queues_;
};

// Takes out of a recording's head the gates that are left out. Throws as above.
void leave_out_gates(const std::string& name, Json& recording);

}  // namespace berth::conformance
