// The lines of values in a YAML text.
#include <yaml-cpp/yaml.h>

#include <charconv>

#include "base/yaml.h"

namespace berth {
namespace {

// The next part of a path such as "spec.list[2].name": a name, or an index. Removes it from the path.
std::string_view next_part(std::string_view& path, bool& is_index) {
  is_index = path.starts_with('[');
  const std::size_t end = is_index ? path.find(']') : path.find_first_of(".[");
  const std::string_view part =
      path.substr(is_index ? 1 : 0, end == std::string_view::npos ? end : end - (is_index ? 1 : 0));
  path.remove_prefix(end == std::string_view::npos ? path.size() : end + (is_index ? 1 : 0));
  if (path.starts_with('.')) path.remove_prefix(1);
  return part;
}

}  // namespace

std::optional<std::size_t> yaml_line(std::string_view text, std::string_view path) {
  try {
    YAML::Node node = YAML::Load(std::string(text));
    while (!path.empty()) {
      bool is_index = false;
      const std::string_view part = next_part(path, is_index);
      YAML::Node child;
      if (is_index) {
        std::size_t index = 0;
        std::from_chars(part.data(), part.data() + part.size(), index);
        if (node.IsSequence() && index < node.size()) child.reset(node[index]);
      } else if (node.IsMap()) {
        for (const auto& entry : node) {
          if (entry.first.IsScalar() && entry.first.Scalar() == part) child.reset(entry.second);
        }
      }
      if (!child.IsDefined() || child.Mark().is_null()) break;
      node.reset(child);
    }
    if (node.Mark().is_null()) return std::nullopt;
    return static_cast<std::size_t>(node.Mark().line) + 1;
  } catch (const YAML::Exception&) {
    return std::nullopt;
  }
}

}  // namespace berth
