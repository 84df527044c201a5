#include "embedded/apiserver/requests/selection.h"

#include <algorithm>

namespace berth::apiserver {
namespace {

constexpr std::string_view kName = "metadata.name";
constexpr std::string_view kNamespace = "metadata.namespace";

bool is_selectable(const ResourceInfo& resource, std::string_view field) {
  if (field == kName || field == kNamespace) return true;
  return std::ranges::find(resource.strategy.selectable_fields, field) != resource.strategy.selectable_fields.end();
}

std::string unknown_field(const ResourceInfo& resource, const std::string& field) {
  if (resource.custom || !resource.strategy.selectable_fields.empty()) return "field label not supported: " + field;
  return "\"" + field + "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
}

}  // namespace

Result<Selection> Selection::parse(const ResourceInfo& resource, const api::RestRequest& request) {
  Selection selection;
  selection.ns_ = resource.namespaced ? request.ns : std::string();
  selection.name_ = request.name;
  selection.field_ = resource.strategy.field;
  if (!request.label_selector.empty()) {
    auto labels = api::LabelSelector::parse(request.label_selector);
    if (!labels) return tl::unexpected(labels.error());
    selection.labels_ = std::move(*labels);
  }
  if (!request.field_selector.empty()) {
    auto fields = api::parse_field_selector(request.field_selector);
    if (!fields) return tl::unexpected(fields.error());
    for (api::FieldRequirement& requirement : *fields) {
      if (!is_selectable(resource, requirement.field)) return fail(unknown_field(resource, requirement.field));
      if (requirement.field == kName && requirement.equal && selection.name_.empty())
        selection.name_ = requirement.value;
      selection.fields_.push_back(std::move(requirement));
    }
  }
  return selection;
}

bool Selection::matches(const Json& object) const {
  if (!name_.empty() && string_at(object, {"metadata", "name"}) != name_) return false;
  if (!labels_.empty() && !labels_.matches(object_at(object, {"metadata", "labels"}))) return false;
  return std::ranges::all_of(fields_, [&](const api::FieldRequirement& requirement) {
    std::string value;
    if (requirement.field == kName) {
      value = string_at(object, {"metadata", "name"});
    } else if (requirement.field == kNamespace) {
      value = string_at(object, {"metadata", "namespace"});
    } else if (field_) {
      value = field_(object, requirement.field).value_or("");
    }
    return (value == requirement.value) == requirement.equal;
  });
}

std::string Selection::prefix() const {
  if (!ns_.empty()) return ns_ + "/";
  return {};
}

}  // namespace berth::apiserver
