// Label and field selectors. https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::api {

struct LabelRequirement {
  enum class Op { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };
  std::string key;
  Op op = Op::kExists;
  std::vector<std::string> values;
};

class LabelSelector {
 public:
  static Result<LabelSelector> parse(std::string_view text);  // "a=b,c in (d,e),!f"
  static Result<LabelSelector> from_json(const Json& value);  // metav1.LabelSelector; {} matches everything
  static LabelSelector nothing();                             // matches nothing, as a nil namespaceSelector
  static LabelSelector all_of(std::vector<LabelRequirement> requirements);
  bool matches(const JsonObject& labels) const;
  bool empty() const { return !nothing_ && requirements_.empty(); }
  const std::vector<LabelRequirement>& requirements() const { return requirements_; }

 private:
  std::vector<LabelRequirement> requirements_;
  bool nothing_ = false;
};

struct FieldRequirement {
  std::string field;  // "metadata.name"
  bool equal = true;
  std::string value;
};
Result<std::vector<FieldRequirement>> parse_field_selector(std::string_view text);  // "a=b,c!=d"

}  // namespace berth::api
