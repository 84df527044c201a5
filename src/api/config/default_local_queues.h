// The part `defaultLocalQueues` of the Configuration: local queues that are made in each namespace (KEP-7610). Not in
// Kueue's file: there a program of its own, kueue-populator, has these fields.
#pragma once

#include <optional>
#include <string>

#include "api/selector.h"

namespace berth::api::config {

struct DefaultLocalQueues {
  bool enabled = false;
  // localQueueName, with the mode Static. "": each has the name of its cluster queue (AsClusterQueue).
  std::string name = "default";
  // namespaceSelector: where they are made. None: where jobs are managed.
  std::optional<LabelSelector> namespaces;
};

}  // namespace berth::api::config
