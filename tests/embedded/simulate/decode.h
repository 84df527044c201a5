// Checks that the controller can read what the API server accepts. Random objects and statuses are drawn from the
// schemas that the server serves, for each kind that the controller decodes. If the controller cannot read an object,
// it must write an event about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::simulation {

struct DecodeOptions {
  std::uint64_t seed = 1;
  int per_kind = 2'000;  // number of objects drawn
};

struct DecodeCount {
  std::string resource;  // "workloads.kueue.x-k8s.io"
  int drawn = 0;         // objects; for each accepted one also a status, if the kind has one
  int accepted = 0;      // accepted writes of objects and statuses
  int unreadable = 0;    // accepted, but the decoder returned an error
  // Complaints: unreadable without an event, kind not served, or too few writes accepted.
  std::vector<std::string> broken;
};

// Returns one count for each kind.
std::vector<DecodeCount> run_decode(const DecodeOptions& options);

}  // namespace berth::simulation
