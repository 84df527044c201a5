// Compares what a cluster of Kueue's has with what Berth does, object by object. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/migrate/cluster_objects.h"

namespace berth::cli::migrate {

enum class Weight : std::uint8_t {
  kFirst,    // to be changed before Berth takes over
  kDiffers,  // Berth does something else from then on
  kNote,     // good to know; a step of the migration
};
std::string_view word(Weight weight);  // "first", "differs", "note"

struct Difference {
  Weight weight = Weight::kNote;
  std::string kind, name;  // "Workload", "team-a/train"
  std::string what, to_do;
};

// In order of weight, kind and name.
std::vector<Difference> differences(const ClusterObjects& cluster);

// What goes on as it is.
struct TakenOver {
  std::size_t admitted = 0, waiting = 0, finished = 0;  // workloads
  std::size_t queues = 0;                               // cluster queues and local queues
};
TakenOver taken_over(const ClusterObjects& cluster);

}  // namespace berth::cli::migrate
