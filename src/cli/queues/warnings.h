// The warnings of a namespace, for commands that say why something does not go on.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "cli/queues/discovery.h"
#include "cli/queues/flags.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

class Warnings {
 public:
  // Both must outlive it. The events are read once, when they are asked for.
  Warnings(const Session& session, Opened& opened) : session_(session), opened_(opened) {}

  // The newest warning about the object, as "Reason: note"; of a pod in a group, about any pod of the group. "" when
  // there is none.
  Result<std::string> about(const ForObject& object);
  // The same about the object with this uid alone.
  Result<std::string> about(std::string_view uid);

 private:
  const Result<JsonArray>& events();

  const Session& session_;
  Opened& opened_;
  std::optional<Result<JsonArray>> events_;
};

}  // namespace berth::cli::queues
