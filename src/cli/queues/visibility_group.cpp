#include "cli/queues/visibility_group.h"

#include "api/visibility/visibility.h"
#include "controller/feature_gates.h"

namespace berth::cli::queues {

std::string visibility_path() { return "/apis/" + std::string(api::visibility::kGroup); }

std::string why_not_served(Server& server) {
  if (server.get(visibility_path()).code != 404) return "";
  return "the server does not serve the group " + std::string(api::visibility::kGroup) +
         ", which answers this: the feature gate " + std::string(controller::kVisibilityGate) +
         " of Berth is off, or no controller of Berth is installed";
}

}  // namespace berth::cli::queues
