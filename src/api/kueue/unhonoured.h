// What Kueue 0.20 has and Berth does not honour, as one list: docs/compatibility.md shows it, and admission warns about
// objects that use it. (Feature gates are listed in the controller.)
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace berth::api::kueue {

struct Unhonoured {
  enum class What : std::uint8_t { kKind, kField, kSetting, kLabel, kAnnotation, kCondition, kReason, kEvent, kMetric };
  What what;
  // The kind that has it; of a setting: Configuration. Empty: several kinds, or none.
  std::string_view kind;
  // A kind, the path of a field with all fields in it (`spec.a.b`; `[]` stands for the items of a list), a key, a
  // reason or the name of a metric.
  std::string_view name;
  std::string_view instead;  // what happens instead
};
std::span<const Unhonoured> unhonoured();  // by what, kind and name

// The warning about an object of this kind: each field, label and annotation of the list that it sets and that `old`
// (null: a new object) did not set to the same value. One line, or "".
std::string unhonoured_warning(std::string_view kind, const Json& object, const Json* old);

}  // namespace berth::api::kueue
