// CEL expressions that select devices (KEP-4381). They have one variable, `device`, with driver, attributes and
// capacity by domain and name, and allowMultipleAllocations. Versions are text: the functions of semantic versions are
// not there, so an expression that calls them does not compile.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/resource-claim-v1/
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "cel/program.h"

namespace berth::cel {

inline constexpr std::size_t kLongestDeviceSelector = 10 * 1024;  // bytes, as in Kubernetes

// Slot 0 is the device. An error says what is wrong in the expression, and where.
Result<std::shared_ptr<const Program>> compile_device_selector(std::string_view expression);

}  // namespace berth::cel
