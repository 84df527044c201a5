#include <set>

#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/pod_validation.h"

namespace berth::apiserver {
namespace {

using api::field_path;

// The required fields of each volume source.
struct SourceRule {
  std::string_view source;
  std::initializer_list<std::string_view> needs;
};
const SourceRule kRules[] = {
    {"hostPath", {"path"}},
    {"secret", {"secretName"}},
    {"configMap", {"name"}},
    {"persistentVolumeClaim", {"claimName"}},
    {"nfs", {"server", "path"}},
    {"csi", {"driver"}},
    {"ephemeral", {"volumeClaimTemplate"}},
};

void check_items(const Json& source, const std::string& path, FieldErrors& errors) {
  const JsonArray& items = array_at(source, {"items"});
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string at = api::index_path(field_path(path, "items"), i);
    check_required(items[i], "key", at, errors);
    check_required(items[i], "path", at, errors);
  }
}

void check_mode(const Json& source, const std::string& path, FieldErrors& errors) {
  auto mode = optional_int_at(source, {"defaultMode"});
  if (mode && (*mode < 0 || *mode > 0777)) {
    errors.push_back(api::invalid_value(field_path(path, "defaultMode"), *mode,
                                        "must be a number between 0 and 0777 (octal), both inclusive"));
  }
}

}  // namespace

void validate_volumes(const Json& spec, const std::string& path, FieldErrors& errors) {
  const JsonArray& volumes = array_at(spec, {"volumes"});
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    std::string at = api::index_path(field_path(path, "volumes"), i);
    if (check_required(volumes[i], "name", at, errors)) {
      check_text(volumes[i], "name", at, api::check_dns_label, errors);
      if (!names.insert(string_at(volumes[i], {"name"})).second) {
        errors.push_back(api::duplicate(at + ".name", member_or_null(volumes[i], "name")));
      }
    }
    std::size_t sources = 0;
    for (const auto& member : volumes[i].as_object()) {
      if (member.key() == "name" || !member.value().is_object()) continue;
      std::string source_path = field_path(at, member.key());
      if (++sources > 1) {
        errors.push_back(api::forbidden_field(source_path, "may not specify more than 1 volume type"));
        continue;
      }
      for (const auto& rule : kRules) {
        if (rule.source != std::string_view(member.key())) continue;
        for (std::string_view need : rule.needs) check_required(member.value(), need, source_path, errors);
      }
      if (member.key() == "secret" || member.key() == "configMap") check_items(member.value(), source_path, errors);
      check_mode(member.value(), source_path, errors);
    }
    if (sources == 0) errors.push_back(api::required(at, "must specify a volume type"));
  }
}

}  // namespace berth::apiserver
