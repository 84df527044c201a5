#include "jobs/kinds/read/fit.h"

#include <algorithm>

#include "cel/read_types.h"
#include "cel/types.h"
#include "jobs/kinds/read/read_kind.h"

namespace berth::jobs::kinds {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::map<std::string, std::string> documents_of_group(const Json& index, std::string_view group) {
  const std::string prefix = "apis/" + std::string(group) + "/";
  std::map<std::string, std::string> out;
  for (const auto& [key, entry] : object_at(index, {"paths"})) {
    const std::string_view path(key.data(), key.size());
    const std::string_view url = string_at(entry, {"serverRelativeURL"});
    if (path.starts_with(prefix) && url.starts_with('/')) out[std::string(path.substr(prefix.size()))] = url;
  }
  return out;
}

const Json* schema_in_document(const Json& document, std::string_view group, std::string_view kind) {
  for (const auto& [name, schema] : object_at(document, {"components", "schemas"})) {
    for (const Json& one : array_at(schema, {"x-kubernetes-group-version-kind"})) {
      if (string_at(one, {"group"}) == group && string_at(one, {"kind"}) == kind) return &schema;
    }
  }
  return nullptr;
}

Fit compare(const JobKindSpec& kind, const Json& schema) {
  const cel::SchemaPtr types = cel::read_types(schema);
  const cel::TypePtr self = cel::type_of_schema(*types, true);
  const auto all = read_job_kind(kind.text, kind.origin, self);
  if (all) return {Fit::State::kFits, {}};
  const auto paths = read_job_kind(kind.text, kind.origin, self, SchemaCheck::kPaths);
  return {paths ? Fit::State::kInPart : Fit::State::kMisfit, lines_of(all.error().message)};
}

}  // namespace berth::jobs::kinds
