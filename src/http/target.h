// The request target: path and query.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth::http {

// Query parameters in the order sent, decoded; pairs that cannot be decoded are left out, as Go does.
class Query {
 public:
  static Query parse(std::string_view text);
  bool has(std::string_view key) const;
  std::string_view get(std::string_view key) const;  // the first value, empty when absent
  std::vector<std::string> all(std::string_view key) const;
  // A flag: absent, "0" and "false" are false, everything else (also empty) is true.
  bool flag(std::string_view key) const;

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

struct Target {
  std::string path;  // decoded, without a trailing slash (but "/" itself)
  std::vector<std::string>
      segments;  // decoded parts of the path; a part may hold a slash only when it was escaped
  Query query;
};
inline constexpr std::size_t kMaxTargetBytes = 8 * 1024;  // as cpp.md's URL limit: longer ones answer 414

// Error: no absolute path, bad percent escapes, "." and ".." parts.
Result<Target> parse_target(std::string_view text);

}  // namespace berth::http
