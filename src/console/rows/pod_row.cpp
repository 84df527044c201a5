#include "console/rows/pod_row.h"

#include <string_view>

#include "console/rows/fields.h"

namespace berth::console {
namespace {

bool all_ready(const Json& pod) { return is_true(condition_of(pod, "Ready")); }

// Why a pod does not run: the first thing that its status says about it.
std::string_view trouble_of(const Json& pod) {
  for (const Json& container : array_at(pod, {"status", "containerStatuses"})) {
    for (const std::string_view state : {"waiting", "terminated"}) {
      const std::string_view message = string_at(container, {"state", state, "message"});
      if (!message.empty()) return message;
      const std::string_view reason = string_at(container, {"state", state, "reason"});
      if (!reason.empty() && reason != "Completed") return reason;
    }
  }
  if (const Json* scheduled = condition_of(pod, "PodScheduled"); is_false(scheduled))
    return string_at(*scheduled, {"message"});
  return string_at(pod, {"status", "message"});
}

}  // namespace

JsonObject pod_row(const Json& pod) {
  JsonObject out{{"name", string_at(pod, {"metadata", "name"})}};
  put_text(out, "node", string_at(pod, {"spec", "nodeName"}));
  out["phase"] = string_at(pod, {"status", "phase"}, "Pending");
  out["ready"] = all_ready(pod);
  put_text(out, "message", trouble_of(pod));
  JsonObject domains;
  for (const auto& [label, value] : object_at(pod, {"spec", "nodeSelector"})) {
    if (value.is_string()) domains[label] = value;
  }
  out["domains"] = std::move(domains);
  return out;
}

}  // namespace berth::console
