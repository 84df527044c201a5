// The names of the states of an AdmissionCheck in a Workload.
#pragma once

#include <string_view>

#include "api/kueue/types.h"

namespace berth::api::kueue {

constexpr std::string_view name_of(CheckState state) {
  switch (state) {
    case CheckState::kPending:
      return "Pending";
    case CheckState::kReady:
      return "Ready";
    case CheckState::kRetry:
      return "Retry";
    case CheckState::kRejected:
      return "Rejected";
  }
  return "Pending";
}

}  // namespace berth::api::kueue
