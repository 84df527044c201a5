// Objects in YAML files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace berth::cli {

struct ObjectToApply {
  Json object;
  std::string origin;  // source of the object for error messages: "queues.yaml, document 2"
  // false: when somebody else wrote a part of the stored object that this one would change, it is left as it is.
  bool force = true;
};

// Reads the objects of YAML files; a List is replaced by its items. A directory stands for its *.yaml, *.yml and
// *.json files, sorted by name.
Result<std::vector<ObjectToApply>> read_objects(const std::vector<std::string>& paths);
Result<std::vector<ObjectToApply>> parse_objects(std::string_view text, const std::string& origin);

}  // namespace berth::cli
