// Which groups of pods are looked at when a set that owns them changes.
#include "controller/served_sets.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml.h"
#include "embedded/apiserver/server/harness.h"

namespace berth::controller::served_sets_test {
namespace {

JsonPtr a_set(std::int64_t replicas, std::string_view uid = "u", std::string_view status = "{}") {
  return std::make_shared<const Json>(parse_yaml("{metadata: {name: a, namespace: ns, uid: " + std::string(uid) +
                                                 "}, spec: {replicas: " + std::to_string(replicas) +
                                                 "}, status: " + std::string(status) + "}")
                                          .value()
                                          .front());
}

class ServedSetsTest : public apiserver::ServerTest {
 protected:
  using Looks = std::vector<std::pair<std::string, bool>>;  // name, gone

  Looks change(const JsonPtr& old, const JsonPtr& now) {
    looks_.clear();
    sets_.set_changed(old, now);
    return looks_;
  }

 private:
  Looks looks_;
  kube::Informer informer_{*server, executor, {"apps", "v1", "statefulsets"}};
  ServedSets sets_{informer_,
                   {[](const Json& set) { return int_at(set, {"spec", "replicas"}); },
                    [](const Json& set, std::int64_t index) {
                      return std::string(string_at(set, {"metadata", "uid"})) + "-" + std::to_string(index);
                    },
                    [](const JsonPtr&, std::int64_t) { return jobs::ServedGroupState(); }},
                   [](const Json&) { return true; },
                   [this](const std::string& ns, const std::string& group, bool gone) {
                     EXPECT_EQ(ns, "ns");
                     looks_.emplace_back(group, gone);
                   }};
};

TEST_F(ServedSetsTest, EachGroupIsLookedAtWhenItMayHaveChanged) {
  EXPECT_EQ(change(nullptr, a_set(2)), (Looks{{"u-0", false}, {"u-1", false}}));
  EXPECT_EQ(change(a_set(2), a_set(2, "u", "{ready: 1}")), Looks{}) << "the status changed only";
  EXPECT_EQ(change(a_set(2), a_set(3)), (Looks{{"u-0", false}, {"u-1", false}, {"u-2", false}}));
  EXPECT_EQ(change(a_set(3), a_set(1)), (Looks{{"u-1", false}, {"u-2", false}, {"u-0", false}}));
  EXPECT_EQ(change(a_set(1), a_set(1, "v")), (Looks{{"u-0", true}, {"v-0", false}})) << "another set of this name";
  EXPECT_EQ(change(a_set(1, "v"), nullptr), (Looks{{"v-0", true}}));
}

TEST_F(ServedSetsTest, ASetHasABoundedNumberOfGroups) {
  EXPECT_EQ(change(nullptr, a_set(2'000'000'000)).size(), static_cast<std::size_t>(kMaxServedGroups));
  EXPECT_EQ(change(a_set(2'000'000'000), a_set(-1)).size(), static_cast<std::size_t>(kMaxServedGroups));
}

}  // namespace
}  // namespace berth::controller::served_sets_test
