// YAML to JSON values, typed as kubectl types them, with one exception: of YAML 1.1's booleans only true and false
// count. Quoted scalars are strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth {

struct YamlLimits {
  std::size_t max_bytes = 8u << 20;
  std::size_t max_depth = 256;
  // Bound on values and keys after aliases are expanded; a text counts once more per 32 bytes. Stops alias bombs.
  std::size_t max_nodes = 1'000'000;
};

// All documents of a stream (separated by ---); empty documents are left out.
// Errors say line and column; duplicate keys in a mapping are errors.
Result<std::vector<Json>> parse_yaml(std::string_view text, const YamlLimits& limits = {});

// The line (from 1) of the value at a path of the first document, for messages: "spec.list[2].name". Of the nearest
// value above it when the path does not exist; nullopt for texts that parse_yaml() refuses.
std::optional<std::size_t> yaml_line(std::string_view text, std::string_view path);

// Block-style YAML that parses back to the same value.
std::string to_yaml(const Json& value);

}  // namespace berth
