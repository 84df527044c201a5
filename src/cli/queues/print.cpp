#include "cli/queues/print.h"

#include "base/text.h"
#include "base/yaml.h"
#include "cli/queues/words.h"

namespace berth::cli::queues {
namespace {

Json sorted(const Json& value) {
  auto copy = parse_json(canonical_json(value), {.max_bytes = std::string::npos});
  return copy ? std::move(*copy) : value;
}

void drop_managed_fields(Json& value) {
  erase_path(value, {"metadata", "managedFields"});
  if (!value.is_object()) return;
  Json* items = value.get_object().if_contains("items");
  if (items == nullptr || !items->is_array()) return;
  for (Json& item : items->get_array()) erase_path(item, {"metadata", "managedFields"});
}

}  // namespace

Result<Format> parse_format(std::string_view text) {
  Format format;
  constexpr std::string_view kPath = "jsonpath=";
  if (text.starts_with(kPath)) {
    format.kind = Format::Kind::kJsonPath;
    auto path = JsonPathText::compile(text.substr(kPath.size()));
    if (!path) return wrong_value("--output", text, path.error().message);
    format.path = std::move(*path);
  } else if (text == "json") {
    format.kind = Format::Kind::kJson;
  } else if (text == "yaml") {
    format.kind = Format::Kind::kYaml;
  } else if (text == "name") {
    format.kind = Format::Kind::kName;
  } else if (text == "wide") {
    format.kind = Format::Kind::kWide;
  } else if (!text.empty()) {
    return wrong_value("--output", text, "expected json, yaml, name, wide or jsonpath=TEMPLATE");
  }
  return format;
}

std::string object_name(const Json& object) {
  const std::string_view api_version = string_at(object, {"apiVersion"});
  const std::size_t slash = api_version.find('/');
  std::string out = to_lower(string_at(object, {"kind"}));
  if (slash != std::string_view::npos) out.append(".").append(api_version.substr(0, slash));
  return out.append("/").append(string_at(object, {"metadata", "name"}));
}

std::string printed(const Format& format, Json object) {
  if (!format.managed_fields) drop_managed_fields(object);
  switch (format.kind) {
    case Format::Kind::kJson:
      return to_pretty_string(sorted(object)) + "\n";
    case Format::Kind::kYaml:
      return to_yaml(sorted(object));
    case Format::Kind::kJsonPath:
      return format.path->print(object);
    default: {
      if (!object.is_object() || !object.get_object().contains("items")) return object_name(object) + "\n";
      std::string out;
      for (const Json& item : array_at(object, {"items"})) out += object_name(item) + "\n";
      return out;
    }
  }
}

}  // namespace berth::cli::queues
