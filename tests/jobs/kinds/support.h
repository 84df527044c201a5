// Descriptions and jobs for the tests of kinds.
#pragma once

#include <string_view>

#include "base/yaml.h"
#include "jobs/kinds/described_job.h"

namespace berth::jobs::kinds::support {

inline Json yaml(std::string_view text) { return parse_yaml(text)->front(); }

// The shipped description of a kind ("PyTorchJob").
inline JobKindPtr shipped(std::string_view kind) {
  for (const auto& one : shipped_job_kinds()) {
    if (one->kind == kind) return one;
  }
  return nullptr;
}

inline JsonPtr nothing(const api::GroupVersionResource&, std::string_view, std::string_view) { return nullptr; }

inline DescribedJob job_of(std::string_view kind) { return {shipped(kind), nothing}; }

}  // namespace berth::jobs::kinds::support
