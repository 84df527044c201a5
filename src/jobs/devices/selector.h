// CEL selectors of devices (cel/device_selector.h), compiled and evaluated.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices/types.h"
#include "base/result.h"
#include "cel/program.h"
#include "cel/value.h"

namespace berth::jobs::devices {

// Compiles each expression once. Keeps at most kMostExpressions of them, and forgets all when there are more.
class Selectors {
 public:
  static constexpr std::size_t kMostExpressions = 4096;
  using Compiled = std::shared_ptr<const cel::Program>;

  // An error says what is wrong in the expression, and where.
  Result<Compiled> compile(const std::string& expression);

 private:
  std::map<std::string, Result<Compiled>, std::less<>> known_;
};

// A device as selectors see it. `device` must outlive the value.
cel::Value selectable(const api::Device& device, std::string_view driver);

// What all selectors of a claim, or of the claims of a pod, may cost together, on all devices: as the rules of one
// object on an API server.
inline constexpr std::int64_t kMostSelectorCost = cel::Budget::kPerObject;

// Whether the expression is true for the device. An error: it fails on this device, is no bool, or costs more than
// cel::Budget::kPerRule or than `left`, from which its cost is taken.
Result<bool> selects(const cel::Program& program, const cel::Value& device, std::int64_t& left);

}  // namespace berth::jobs::devices
