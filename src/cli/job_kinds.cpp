#include "cli/job_kinds.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/embedded.h"
#include "base/read_file.h"
#include "base/yaml.h"
#include "embedded/apiserver/schema/structural.h"
#include "jobs/kinds/read/read_kind.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;
using jobs::kinds::JobKindPtr;

// The schema of a version of a kind in a file with definitions; null when it is not there.
apiserver::SchemaPtr schema_in(std::string_view text, const api::GroupVersionResource& resource) {
  const std::string name = resource.resource + "." + resource.group;
  if (text.find(name) == std::string_view::npos) return nullptr;
  const auto documents = parse_yaml(text);
  if (!documents) return nullptr;
  for (const Json& definition : *documents) {
    if (string_at(definition, {"metadata", "name"}) != name) continue;
    for (const Json& version : array_at(definition, {"spec", "versions"})) {
      const Json* schema = find_path(version, {"schema", "openAPIV3Schema"});
      api::FieldErrors ignored;
      if (schema != nullptr && string_at(version, {"name"}) == resource.version)
        return apiserver::compile_schema(*schema, "", ignored);
    }
  }
  return nullptr;
}

Result<apiserver::SchemaPtr> schema_of(const api::GroupVersionResource& resource, const std::string& crd) {
  if (!crd.empty()) {
    const auto text = read_file(crd);
    if (!text) return tl::unexpected(text.error());
    if (const auto documents = parse_yaml(*text); !documents) return fail(crd + ": " + documents.error().message);
    auto schema = schema_in(*text, resource);
    if (schema) return schema;
    return fail(crd + ": has no CustomResourceDefinition " + resource.resource + "." + resource.group +
                " with a schema for version " + resource.version);
  }
  for (const auto& file : embedded::external_crds()) {
    if (auto schema = schema_in(file.content, resource)) return schema;
  }
  return apiserver::SchemaPtr();
}

bool same_kind(const JobKindPtr& a, const JobKindPtr& b) {
  return a->resource.group == b->resource.group && a->kind == b->kind;
}

}  // namespace

Result<JobKindPtr> read_job_kind_file(const std::string& path, const std::string& crd) {
  auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto kind = jobs::kinds::read_job_kind(*text, path);
  if (!kind) return kind;
  const auto schema = schema_of((*kind)->resource, crd);
  if (!schema) return tl::unexpected(schema.error());
  if (!*schema) return kind;
  // Its types refer to the schema, which nobody keeps: this one is for the check only.
  const auto checked = jobs::kinds::read_job_kind(*text, path, cel::type_of_schema(**schema, true));
  return checked ? kind : checked;
}

Result<std::vector<JobKindPtr>> read_job_kinds(const KindsDirectory& directory) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(directory.path, error)) {
    const std::string name = entry.path().filename();
    // A mounted ConfigMap has hidden entries beside its files.
    if (!name.starts_with('.') && name.ends_with(".yaml")) paths.push_back(entry.path());
  }
  if (error)
    return fail(std::string(directory.named_by) + ": cannot read the directory " + directory.path + ": " +
                error.message());
  std::ranges::sort(paths);
  std::vector<JobKindPtr> out;
  std::string mistakes;
  for (const auto& path : paths) {
    auto kind = read_job_kind_file(path);
    if (!kind) {
      mistakes.append(mistakes.empty() ? "" : "\n").append(kind.error().message);
      continue;
    }
    const auto before = std::ranges::find_if(out, [&](const JobKindPtr& one) { return same_kind(one, *kind); });
    if (before != out.end())
      mistakes.append(mistakes.empty() ? "" : "\n")
          .append(path + ": describes " + (*kind)->kind + " of " + (*kind)->resource.group + ", as " +
                  (*before)->origin + " does; keep one");
    out.push_back(std::move(*kind));
  }
  if (!mistakes.empty()) return fail(mistakes);
  return out;
}

Result<void> add_job_kinds(const std::vector<KindsDirectory>& directories, controller::ControllerOptions& options) {
  for (const auto& directory : directories) {
    if (directory.path.empty()) continue;
    auto kinds = read_job_kinds(directory);
    if (!kinds) return tl::unexpected(kinds.error());
    for (auto& kind : *kinds) {
      std::erase_if(options.kinds, [&](const auto& one) { return same_kind(one.description, kind); });
      options.kinds.push_back({std::move(kind), true});
    }
  }
  return {};
}

}  // namespace berth::cli
