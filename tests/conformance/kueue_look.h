// Compares a look of a recording with the actual objects.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/kueue_left_out.h"
#include "conformance/kueue_stage.h"

namespace berth::conformance {

class Look {
 public:
  // `whole`: for newer recordings, which show the objects completely.
  Look(Stage& stage, const LeftOut& left_out, bool whole) : stage_(stage), left_out_(left_out), whole_(whole) {}

  // Returns the differences. `seen_events`: see events_of().
  std::vector<Difference> look(const Json& step, std::set<std::string>& seen_events);

 private:
  Json wanted_workloads(const Json& step);
  Json workloads(const Json& step);
  Json shown_workload(const Json& workload, const Json& expected);
  Json wanted_jobs(const Json& step);
  Json jobs(const Json& step);
  const Json& wanted_queues(const Json& step, std::string_view section);
  Json counted(std::string_view queue, const Json& status) const;
  Json queues(const Json& expected, std::string_view kind);
  Json wanted_pods(const Json& step);
  Json pods(const Json& step);
  Json wanted_objects(const Json& step);
  Json objects(const Json& step);
  Json shown_by_name(std::string_view api_version, std::string_view kind, const Json& step, std::string_view section);
  std::string name_of(const Json& expected);

  Stage& stage_;
  const LeftOut& left_out_;
  const bool whole_;
  // The last recorded statuses by section and namespace: the recording does not repeat an unchanged status.
  std::map<std::string, Json> last_queues_;
};

}  // namespace berth::conformance
