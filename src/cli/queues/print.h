// -o: how objects are printed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/queues/jsonpath_text.h"

namespace berth::cli::queues {

struct Format {
  enum class Kind { kText, kWide, kJson, kYaml, kName, kJsonPath };
  Kind kind = Kind::kText;
  std::optional<JsonPathText> path;
  bool managed_fields = false;  // json and yaml keep metadata.managedFields

  bool text() const { return kind == Kind::kText || kind == Kind::kWide; }
  bool wide() const { return kind == Kind::kWide; }
};

// `text`: the value of -o, "" for text. An error names it and what was expected.
Result<Format> parse_format(std::string_view text);

// "clusterqueue.kueue.x-k8s.io/one", as kubectl names objects.
std::string object_name(const Json& object);

// An object, or a list of them, in a format that is not for people; members are sorted, as kubectl prints them.
std::string printed(const Format& format, Json object);

}  // namespace berth::cli::queues
