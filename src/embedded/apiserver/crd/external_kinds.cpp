#include "embedded/apiserver/crd/external_kinds.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace berth::apiserver {
namespace {

// A file has the name of the plural: config/external/jobsets.yaml.
std::string_view plural_of(const embedded::File& file) {
  std::string_view name = file.name;
  name.remove_prefix(name.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

// The name of the definition in the file, jobsets.jobset.x-k8s.io: the first name in it.
std::string_view definition_of(const embedded::File& file) {
  constexpr std::string_view kName = "\n  name: ";
  const std::size_t at = file.content.find(kName) + kName.size();
  return file.content.substr(at, file.content.find('\n', at) - at);
}

std::string_view group_of(const embedded::File& file) {
  const std::string_view definition = definition_of(file);
  return definition.substr(definition.find('.') + 1);
}

// All plurals here are the kind in lower case and an s.
bool is(const embedded::File& file, std::string_view group, std::string_view kind) {
  return group_of(file) == group && plural_of(file) == to_lower(kind) + "s";
}

bool is_named(const embedded::File& file, std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos) return is(file, name.substr(0, slash), name.substr(slash + 1));
  return name == plural_of(file) || name == definition_of(file);
}

std::string known_names() {
  std::string all;
  for (const embedded::File& file : embedded::external_crds())
    all.append(all.empty() ? "" : ", ").append(plural_of(file));
  return all;
}

}  // namespace

Result<std::vector<embedded::File>> choose_external_kinds(std::string_view names) {
  const auto all = embedded::external_crds();
  if (names == "all") return std::vector<embedded::File>(all.begin(), all.end());
  std::set<std::string_view> chosen;
  while (!names.empty() && names != "none") {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const auto found = std::find_if(all.begin(), all.end(), [name](const auto& file) { return is_named(file, name); });
    if (found == all.end())
      return fail("unknown kind \"" + std::string(name) + "\"; expected all, none, or some of " + known_names());
    chosen.insert(plural_of(*found));
    if (plural_of(*found) == "trainjobs") chosen.insert({"trainingruntimes", "clustertrainingruntimes"});
  }
  std::vector<embedded::File> files;
  std::copy_if(all.begin(), all.end(), std::back_inserter(files),
               [&](const auto& file) { return chosen.contains(plural_of(file)); });
  return files;
}

std::string_view external_kind_of(std::string_view api_version, std::string_view kind) {
  const std::string_view group = api_version.substr(0, api_version.find('/'));
  for (const embedded::File& file : embedded::external_crds()) {
    if (is(file, group, kind)) return plural_of(file);
  }
  return {};
}

}  // namespace berth::apiserver
