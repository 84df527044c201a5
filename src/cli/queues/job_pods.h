// Which pods belong to a job, whichever kind of job it is.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "api/selector.h"
#include "base/json.h"
#include "cli/queues/discovery.h"

namespace berth::cli::queues {

// Pods of an object: its own ones, those that its selector selects, and those of its workloads.
class JobPods {
 public:
  // `workloads`: those of its namespace; others than its own do not count.
  JobPods(const FoundResource& resource, const Json& object, const JsonArray& workloads);
  bool has(const Json& pod) const;

 private:
  std::string uid_, name_;
  std::set<std::string> workloads_;
  std::optional<api::LabelSelector> selector_;
  bool custom_ = false;
};

}  // namespace berth::cli::queues
