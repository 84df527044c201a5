#include "embedded/simulate/kind_installers.h"

#include <algorithm>
#include <utility>

#include "base/embedded.h"
#include "base/yaml.h"
#include "jobs/kinds/job_kind.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::simulation {
namespace {

const api::GroupVersionResource kKindDefinitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};

const jobs::kinds::JobKindSpec* described(const Json& definition) {
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) {
    if (string_at(definition, {"metadata", "name"}) == kind->resource.resource + "." + kind->resource.group)
      return kind.get();
  }
  return nullptr;
}

// The versions of the definition. In `later` there is one more, which is stored; the old ones may stay served.
JsonArray versions_of(const Json& definition, bool later, bool still_served) {
  JsonArray out;
  for (Json version : array_at(definition, {"spec", "versions"})) {
    if (bool_at(version, {"storage"})) {
      Json next = version;
      ensure_path(next, {"name"}) = kLaterVersion;
      ensure_path(next, {"storage"}) = later;
      out.push_back(std::move(next));
      ensure_path(version, {"storage"}) = !later;
    }
    if (later && !still_served) ensure_path(version, {"served"}) = false;
    out.push_back(std::move(version));
  }
  return out;
}

}  // namespace

KindInstallers::KindInstallers(api::RestClient& client, std::uint64_t seed)
    : random_(seed * 53 + 11), hands_(client, random_) {
  for (const auto& file : embedded::external_crds()) {
    const auto documents = parse_yaml(file.content).value();
    for (const Json& definition : documents) {
      if (described(definition) == nullptr) continue;
      names_.emplace_back(string_at(definition, {"metadata", "name"}));
      definitions_[names_.back()] = definition;
    }
  }
}

void KindInstallers::act() {
  const std::string& name = names_[random_.below(names_.size())];
  for (const auto& [other, is_disturbed] : disturbed_) {
    if (is_disturbed && random_.chance(400)) return restore(other);
  }
  if (disturbed_[name]) return restore(name);
  disturbed_[name] = true;
  if (random_.chance(500)) return move(name, random_.chance(400));
  ++uninstalled_;
  hands_.remove(kKindDefinitions, definitions_.at(name), "Background");
}

void KindInstallers::move(const std::string& name, bool still_served) {
  ++moved_;
  const Json& definition = definitions_.at(name);
  hands_.patch(kKindDefinitions, "", definition,
               JsonObject{{"spec", JsonObject{{"versions", versions_of(definition, true, still_served)}}}});
}

// A definition that is being deleted cannot be restored yet: it stays disturbed.
void KindInstallers::restore(const std::string& name) {
  hands_.create(kKindDefinitions, "", definitions_.at(name));
  hands_.list(kKindDefinitions, [this, name](const std::vector<Json>& all) {
    const auto it =
        std::ranges::find_if(all, [&](const Json& one) { return string_at(one, {"metadata", "name"}) == name; });
    if (it == all.end() || find_path(*it, {"metadata", "deletionTimestamp"}) != nullptr) return;
    disturbed_[name] = false;
    const Json& definition = definitions_.at(name);
    if (array_at(*it, {"spec", "versions"}).size() == array_at(definition, {"spec", "versions"}).size()) return;
    // A version that objects may be stored in cannot go.
    hands_.patch(kKindDefinitions, "", definition,
                 JsonObject{{"spec", JsonObject{{"versions", versions_of(definition, false, true)}}}});
  });
}

void KindInstallers::calm_down() {
  for (const auto& [name, is_disturbed] : disturbed_) {
    if (is_disturbed) restore(name);
  }
}

}  // namespace berth::simulation
