// JSONPath as CustomResourceDefinitions use it: printer columns, selectable fields, scale paths.
// https://kubernetes.io/docs/reference/kubectl/jsonpath/
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace berth {

// A path without braces such as `.spec.a`, `.list[0].b`, `.list[*].c`, `['a.b']`, `..name`, `.list[-1:]` or
// `.status.conditions[?(@.type=="Ready")].status`. Dots in names can be escaped: `.metadata.labels.a\.b`.
class JsonPath {
 public:
  static constexpr std::size_t kMaxSteps = 64;  // limit for one path; real paths have fewer than ten

  // Errors give the position of the syntax error. The leading dot is optional.
  static Result<JsonPath> compile(std::string_view text);

  // The values that the path selects, in document order, at most `limit`; empty when a step finds nothing.
  std::vector<const Json*> find_all(const Json& root, std::size_t limit = 1024) const;
  // The first of these values, or null.
  const Json* find_first(const Json& root) const;

  // is_plain(): the path consists of names only, as in `.a.b['c']`. names(): these names.
  bool is_plain() const;
  std::vector<std::string> names() const;

 private:
  enum class Kind : std::uint8_t { kName, kIndex, kSlice, kAny, kDescend, kFilter };
  enum class Op : std::uint8_t { kExists, kEqual, kUnequal, kLess, kLessEqual, kGreater, kGreaterEqual };
  struct Step {
    Kind kind = Kind::kName;
    std::string name;                // kName
    std::int64_t index = 0;          // kIndex; kSlice: its start
    std::int64_t end = 0, step = 1;  // kSlice
    bool has_end = false;
    Op op = Op::kExists;            // kFilter: `left` op `right`
    std::vector<Step> left, right;  // paths relative to the item (@)
    bool right_is_path = false;
    Json literal;

    static Step of(Kind kind, std::string name = {}) {
      Step step;
      step.kind = kind;
      step.name = std::move(name);
      return step;
    }
  };
  friend class JsonPathParser;

  static void walk(const Json& value, const std::vector<Step>& steps, std::size_t at, std::size_t limit,
                   std::vector<const Json*>& out);
  static void walk_all(const Json& value, const std::vector<Step>& steps, std::size_t at, std::size_t limit,
                       std::vector<const Json*>& out);
  static bool passes(const Json& item, const Step& filter);

  std::vector<Step> steps_;
};

}  // namespace berth
