// What the API server accepts, the controller can read: random objects of each kind that it decodes, drawn
// from the schemas that the server serves, and random statuses. What cannot be read has to be told by an
// event on the object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::simulation {

struct DecodeOptions {
  std::uint64_t seed = 1;
  int per_kind = 2'000;  // objects that are drawn
};

struct DecodeCount {
  std::string resource;             // "workloads.kueue.x-k8s.io"
  int drawn = 0;                    // objects; as many statuses where the kind has one
  int accepted = 0;                 // writes of both
  int unreadable = 0;               // of these
  std::vector<std::string> broken;  // unreadable and not told; or hardly anything was accepted
};

// For each kind in turn.
std::vector<DecodeCount> run_decode(const DecodeOptions& options);

}  // namespace berth::simulation
