#include "cli/job_kinds.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/embedded.h"
#include "base/read_file.h"
#include "base/yaml.h"
#include "cel/read_types.h"
#include "cel/types.h"
#include "jobs/kinds/read/read_kind.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;
using jobs::kinds::JobKindPtr;

// What a definition says about a version of a kind.
struct Definition {
  std::string kind;
  Json schema;  // openAPIV3Schema; null: this version has none
};

// nullopt: the file has no such definition.
std::optional<Definition> definition_in(std::string_view text, const api::GroupVersionResource& resource) {
  const std::string name = resource.resource + "." + resource.group;
  if (text.find(name) == std::string_view::npos) return std::nullopt;
  const auto documents = parse_yaml(text);
  if (!documents) return std::nullopt;
  for (const Json& definition : *documents) {
    if (string_at(definition, {"metadata", "name"}) != name) continue;
    Definition out{std::string(string_at(definition, {"spec", "names", "kind"})), {}};
    for (const Json& version : array_at(definition, {"spec", "versions"})) {
      const Json* schema = find_path(version, {"schema", "openAPIV3Schema"});
      if (schema != nullptr && string_at(version, {"name"}) == resource.version) out.schema = *schema;
    }
    if (!out.schema.is_null()) return out;
  }
  return std::nullopt;
}

Result<std::optional<Definition>> definition_of(const api::GroupVersionResource& resource, const std::string& crd) {
  if (!crd.empty()) {
    const auto text = read_file(crd);
    if (!text) return tl::unexpected(text.error());
    if (const auto documents = parse_yaml(*text); !documents) return fail(crd + ": " + documents.error().message);
    auto found = definition_in(*text, resource);
    if (found) return found;
    return fail(crd + ": has no CustomResourceDefinition " + resource.resource + "." + resource.group +
                " with a schema for version " + resource.version);
  }
  for (const auto& file : embedded::external_crds()) {
    if (auto found = definition_in(file.content, resource)) return found;
  }
  return std::optional<Definition>();
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
  const auto found = definition_of((*kind)->resource, crd);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return kind;
  const Definition& definition = **found;
  if (definition.kind != (*kind)->kind)
    return fail(path + ": spec.kind: \"" + (*kind)->kind + "\": expected \"" + definition.kind +
                "\", as the CustomResourceDefinition says (spec.names.kind)");
  // Its types refer to the schema, which nobody keeps: this one is for the check only.
  const cel::SchemaPtr types = cel::read_types(definition.schema);
  const auto checked = jobs::kinds::read_job_kind(*text, path, cel::type_of_schema(*types, true));
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
