// The uid and version of an object, small: there is one for every object of a cache.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/rare.h"

namespace berth::kube {

class ObjectIdentity {
 public:
  ObjectIdentity() = default;
  // metadata.uid and metadata.resourceVersion; any text is kept as it is.
  ObjectIdentity(std::string_view uid, std::string_view version);

  std::string uid() const;
  std::string version() const;
  bool has_uid(std::string_view uid) const;
  bool operator==(const ObjectIdentity& other) const = default;

 private:
  // API servers give every object a UUID in lower case, and a number without leading zeros as its version.
  std::array<std::uint64_t, 2> uuid_{};
  std::uint64_t number_ = 0;
  Rare<std::pair<std::string, std::string>> texts_;  // uid and version, when one of them is something else
};

}  // namespace berth::kube
