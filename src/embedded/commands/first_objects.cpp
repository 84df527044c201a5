#include "embedded/commands/first_objects.h"

#include <string_view>
#include <utility>

namespace berth::cli {
namespace {

constexpr std::string_view kVolcano = "/volcano-";  // in the names of the files with Volcano's definitions

}  // namespace

Result<std::vector<ObjectToApply>> definitions_at_start(std::span<const embedded::File> external_kinds, bool volcano) {
  std::vector<ObjectToApply> all;
  const auto add = [&all, volcano](std::span<const embedded::File> files, bool force) -> Result<void> {
    for (const embedded::File& file : files) {
      if (!volcano && file.name.find(kVolcano) != std::string_view::npos) continue;
      auto objects = parse_objects(file.content, std::string(file.name));
      if (!objects) return tl::unexpected(objects.error());
      for (ObjectToApply& object : *objects) {
        object.force = force;
        all.push_back(std::move(object));
      }
    }
    return {};
  };
  if (auto added = add(embedded::crds(), true); !added) return tl::unexpected(added.error());
  if (auto added = add(external_kinds, false); !added) return tl::unexpected(added.error());
  return all;
}

ObjectToApply client_authority_map(const std::string& authority) {
  return {
      JsonObject{{"apiVersion", "v1"},
                 {"kind", "ConfigMap"},
                 {"metadata", JsonObject{{"name", "extension-apiserver-authentication"}, {"namespace", "kube-system"}}},
                 {"data", JsonObject{{"client-ca-file", authority}}}},
      "the authority of client certificates"};
}

}  // namespace berth::cli
