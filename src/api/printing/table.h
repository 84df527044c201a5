// Helpers for printer tables: columns, ages, and cells that several kinds share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"

namespace berth::api {

struct PrinterColumn {
  std::string name, type, format, description, json_path;  // json_path without braces: ".status.conditions[0].type"
  std::int32_t priority = 0;                               // 0: always shown; 1: only with -o wide
};

// Formats a duration as kubectl does: "45s", "5m30s", "3h", "2d4h", "324d", "2y10d"; "<invalid>" for two seconds or
// more in the future (negative).
std::string human_duration(Duration d);
// The time since an RFC 3339 timestamp; "<unknown>" when it is empty.
std::string age_cell(std::string_view timestamp, Time now);
// The time since the object's creation.
std::string age_of(const Json& object, Time now);

// A text column.
PrinterColumn text_column(std::string name, std::string description, int priority = 0);

// The values of `field` in all items, joined: "a,b".
std::string join_field(const JsonArray& list, std::string_view field);
// A metav1.LabelSelector in one line: "a=b,c in (d,e)"; "<none>" when empty.
std::string selector_text(const Json* selector);
// "a=b,c=d", sorted by key; "<none>" when empty.
std::string labels_text(const JsonObject& labels);

}  // namespace berth::api
