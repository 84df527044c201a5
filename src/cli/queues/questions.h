// Questions to the API group that explains and predicts, and what to say where no server answers them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "base/result.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

// A resource of the group, in the version that is asked: "workloads".
api::GroupVersionResource visibility_resource(std::string_view plural);

// Why questions to this server have no answer, naming the feature gate; "" when it serves the group, or cannot be
// asked.
std::string why_not_served(Server& server);

// What the server says about a workload (api::visibility::kExplanation or kPrediction), with the names of objects of
// other namespaces if the user may see them.
Result<Json> ask_about(Server& server, std::string_view question, const std::string& ns, const std::string& name);

// A cluster queue has no namespace.
struct QueueName {
  std::string ns, name;
};
// The first workloads that wait there, in their order: the items of the summary.
Result<JsonArray> pending_in(Server& server, const QueueName& queue, std::size_t limit);

}  // namespace berth::cli::queues
