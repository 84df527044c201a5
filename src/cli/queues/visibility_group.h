// The API group that explains: what to say where no server serves it.
#pragma once

#include <string>

#include "cli/queues/session.h"

namespace berth::cli::queues {

std::string visibility_path();  // of the group: "/apis/GROUP"
// Why questions to this server have no answer, naming the feature gate; "" when it serves the group, or cannot be
// asked.
std::string why_not_served(Server& server);

}  // namespace berth::cli::queues
