// The words of kubectl's tables: columns, ages, and the pieces that rows of several kinds share.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/resource.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::apiserver {

// As kubectl prints spans of time: "45s", "5m30s", "3h", "2d4h", "324d", "2y10d"; "<invalid>" for more than a
// second into the future.
std::string human_duration(Duration d);
// The time since an RFC 3339 text; "<unknown>" when there is none.
std::string age_cell(std::string_view timestamp, Time now);
// The age of an object.
std::string age_of(const Json& object, Time now);

// A text column. `priority` 0 is shown always, 1 by -o wide.
PrinterColumn text_column(std::string name, std::string description, int priority = 0);

// "a,b" of the members' `field`.
std::string join_field(const JsonArray& list, std::string_view field);
// "a=b,c in (d,e)", "<none>" when empty: a metav1.LabelSelector in one line.
std::string selector_text(const Json* selector);
// "a=b,c=d" in order of keys, "<none>" when empty.
std::string labels_text(const JsonObject& labels);

}  // namespace berth::apiserver
