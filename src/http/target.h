// The request target: path and query.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth::http {

// Query parameters in the order sent, decoded. Pairs that cannot be decoded are skipped, as in Go's net/url.
class Query {
 public:
  static Query parse(std::string_view text);
  bool has(std::string_view key) const;
  std::string_view get(std::string_view key) const;  // the first value; empty when absent
  std::vector<std::string> all(std::string_view key) const;
  // A boolean: absent, "0" and "false" are false; everything else (also the empty value) is true.
  bool flag(std::string_view key) const;

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

struct Target {
  std::string path;  // decoded, without a trailing slash (except for "/" itself)
  std::vector<std::string>
      segments;  // decoded parts of the path; a part contains a slash only if the slash was escaped
  Query query;
};
inline constexpr std::size_t kMaxTargetBytes = 8 * 1024;  // longer targets get 414

// Error: the path is not absolute, has invalid percent escapes, or has "." or ".." segments.
Result<Target> parse_target(std::string_view text);

}  // namespace berth::http
