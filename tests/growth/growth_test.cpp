// No list or map of an object may cost more than its length, so that no client holds up all others with one object
// (docs/reliability.md). For each kind that the embedded server serves, objects double in size, and so must the
// steps of everything that the server does with them.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "base/yaml.h"
#include "embedded/apiserver/builtin/builtin.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/crd/external_kinds.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/requests/decode.h"
#include "growth/acts.h"
#include "growth/grown.h"
#include "growth/steps.h"
#include "jobs/kinds/kind_rules.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::growth {
namespace {

using apiserver::ResourceInfo;
using apiserver::ResourcePtr;

constexpr std::size_t kFirstSize = 24;  // above the sizes that libraries search without an index

void add_definitions(std::vector<ResourcePtr>& all, std::string_view text) {
  const auto documents = parse_yaml(text);
  for (Json definition : documents.value()) {
    (void)apiserver::crd_resource()->strategy.decode(definition);
    auto defined = apiserver::resources_of_crd(definition).value();
    for (ResourcePtr& one : defined) all.push_back(std::move(one));
  }
}

api::kueue::AdmissionPolicy everything_managed() {
  api::kueue::AdmissionPolicy policy;
  policy.manage_jobs_without_queue_name = true;
  policy.manage_pods = policy.manage_deployments = policy.manage_stateful_sets = true;
  policy.manage_leader_worker_sets = policy.priority_boost = true;
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) policy.kinds.push_back(jobs::kinds::rules_of(kind, true));
  return policy;
}

std::string name_of(const ResourceInfo& resource) {
  std::string name = resource.gvr.group + "_" + resource.gvr.version + "_" + resource.kind;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

const std::map<std::string, ResourcePtr>& served() {
  static const std::map<std::string, ResourcePtr> resources = [] {
    std::vector<ResourcePtr> all = apiserver::builtin_resources();
    all.push_back(apiserver::crd_resource());
    for (const auto& file : embedded::crds()) add_definitions(all, file.content);
    for (const auto& file : embedded::external_crds()) add_definitions(all, file.content);
    const auto decorate = apiserver::kueue_webhooks(everything_managed());
    std::map<std::string, ResourcePtr> by_name;
    for (ResourcePtr& one : all) {
      const std::string name = name_of(*one);
      by_name.emplace(name, decorate(std::move(one)));
    }
    return by_name;
  }();
  return resources;
}

// Does the acts on objects that grow like `first`, with another state that grows like `second`.
void expect_linear(const ResourceInfo& resource, const std::vector<Act>& acts, const Growth& first,
                   const Growth& second) {
  std::map<std::size_t, Subject> subjects;
  const auto subject = [&](std::size_t size) -> const Subject& {
    const auto sized = [&](Growth growth) {
      growth.size = size;
      return grow(resource, growth);
    };
    const auto known = subjects.find(size);
    return known != subjects.end()
               ? known->second
               : subjects.try_emplace(size, resource, sized(first), sized(second), size).first->second;
  };
  static std::set<PlaceId> reported;  // a fault shows in many kinds
  for (const Act& act : acts) {
    if (first.entries == Entries::kNull && !act.before_decoding && !resource.custom) continue;
    const auto steps = [&](std::size_t size) { return count_steps(act.prepare(subject(size))); };
    std::vector<PlaceId> places = places_that_grow_faster(steps, kFirstSize);
    std::erase_if(places, [](PlaceId place) { return !reported.insert(place).second; });
    if (const std::string where = places.empty() ? "" : describe_places(places); !where.empty())
      ADD_FAILURE() << "to " << act.name << " takes steps that grow as the square of the object's size (entries: "
                    << static_cast<int>(first.entries) << ", then " << static_cast<int>(second.entries) << "), at\n"
                    << where;
  }
}

class Growing : public testing::TestWithParam<std::string> {
 protected:
  static const ResourceInfo& resource() { return *served().at(GetParam()); }
  // The objects have more entries than their schema allows: requests may, until they are refused.
  void expect_linear_without_limits(const std::vector<Act>& acts, Entries first, Entries second) const {
    expect_linear(resource(), acts, {1, first, false}, {1, second, false});
  }
  void expect_linear_within_limits(const std::vector<Act>& acts, Entries first, Entries second) const {
    expect_linear(resource(), acts, {1, first, true}, {1, second, true});
  }
};

// Otherwise little of what is below would be reached.
TEST_P(Growing, ObjectsAreRead) {
  if (GetParam() == "kueue_x_k8s_io_v1beta1_Workload")
    GTEST_SKIP() << "each domain of a topology assignment would need a value for each level";
  for (const bool within_limits : {false, true}) {
    Json object = grow(resource(), {kFirstSize, Entries::kDistinct, within_limits});
    add_strangers(object, kFirstSize);
    std::vector<std::string> warnings;
    const auto read = apiserver::decode_object(resource(), object, api::FieldValidation::kWarn, {}, warnings);
    EXPECT_TRUE(read) << read.error().message;
    EXPECT_GE(warnings.size(), kFirstSize);
  }
}

TEST_P(Growing, ObjectsCostWhatTheyHold) {
  for (const Entries entries : {Entries::kDistinct, Entries::kEqual, Entries::kEmpty, Entries::kNull})
    expect_linear_without_limits(acts_on_objects(), entries, entries);
  expect_linear_within_limits(acts_on_objects(), Entries::kDistinct, Entries::kDistinct);
}

TEST_P(Growing, ChangesCostWhatTheyHold) {
  for (const Entries entries : {Entries::kReversed, Entries::kOthers, Entries::kEmpty})
    expect_linear_without_limits(acts_on_changes(), Entries::kDistinct, entries);
  expect_linear_without_limits(acts_on_changes(), Entries::kEqual, Entries::kEqual);
  expect_linear_within_limits(acts_on_changes(), Entries::kDistinct, Entries::kReversed);
}

// Webhooks, and the controller's rules for jobs, see only what the schema allows. Not every rule is in the schema.
TEST_P(Growing, WebhooksAndJobsCostWhatTheyHold) {
  for (const Entries entries : {Entries::kDistinct, Entries::kReversed, Entries::kOthers, Entries::kEqual}) {
    expect_linear_within_limits(acts_within_limits(), Entries::kDistinct, entries);
    expect_linear_within_limits(acts_of_jobs(), Entries::kDistinct, entries);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, resource] : served()) all.push_back(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Growing, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace berth::growth
