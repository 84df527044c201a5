#include "controller/kind_checks.h"

#include <gmock/gmock.h>

#include "embedded/apiserver/server/harness.h"
#include "jobs/kinds/read/read_kind.h"

namespace berth::controller::kind_checks_test {
namespace {

using jobs::kinds::Fit;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kThing = R"(apiVersion: berth.dev/v1alpha1
kind: JobKind
spec:
  group: example.com
  version: v1
  kind: Thing
  suspend: spec.suspend
  podSets: [{name: main, template: spec.template, count: self.spec.size}]
  finished: "false"
  active: self.?status.?active.orValue(0) > 0
  ready: "true"
)";

std::string version(std::string_view name, std::string_view suspend, std::string_view size, bool served, bool stored) {
  return R"({"name":")" + std::string(name) + R"(","served":)" + (served ? "true" : "false") + R"(,"storage":)" +
         (stored ? "true" : "false") +
         R"(,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
         "template":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"suspend":{"type":")" +
         std::string(suspend) + R"("},"size":{"type":")" + std::string(size) +
         R"("}}},"status":{"type":"object","properties":{"active":{"type":"integer"}}}}}}})";
}
std::string definition(const std::string& versions) {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"versions":[)" +
         versions + "]}}";
}

class KindChecksTest : public apiserver::ServerTest {
 protected:
  KindChecksTest() : checks(*server, executor, {kind}) {
    checks.on_fit([this](const auto&, const Fit& fit) { reported.push_back(fit.state); });
    checks.start();
    settle();
  }
  void install(const std::string& versions) {
    ASSERT_EQ(create(apiserver::kCrds, "", definition(versions)).code, 201);
    ask();
  }
  void change(const std::string& versions) {
    ASSERT_EQ(patch(apiserver::kCrds, "", "things.example.com", R"({"spec":{"versions":[)" + versions + "]}}").code,
              200);
    ask();
  }
  void ask() {
    checks.ask_again();
    settle();
  }
  Fit fit() { return checks.of(*kind); }

  jobs::kinds::JobKindPtr kind = jobs::kinds::read_job_kind(kThing, "thing.yaml").value();
  std::vector<Fit::State> reported;
  KindChecks checks;
};

TEST_F(KindChecksTest, AKindIsAbsentAndThenFits) {
  EXPECT_TRUE(checks.known(*kind));
  EXPECT_EQ(fit().state, Fit::State::kAbsent);
  install(version("v1", "boolean", "integer", true, true));
  EXPECT_EQ(fit().state, Fit::State::kFits) << testing::PrintToString(fit().notes);
  EXPECT_THAT(reported, ElementsAre(Fit::State::kAbsent, Fit::State::kFits));
}

TEST_F(KindChecksTest, EachMistakeHasALine) {
  install(version("v1", "string", "string", true, true));
  EXPECT_EQ(fit().state, Fit::State::kMisfit);
  EXPECT_THAT(fit().notes, Contains(HasSubstr("thing.yaml:7: spec.suspend: is \"spec.suspend\", expected the path of a "
                                              "bool")));
  EXPECT_THAT(fit().notes, Contains(HasSubstr("expected a CEL expression of type int")));
  change(version("v1", "boolean", "string", true, true));
  EXPECT_EQ(fit().state, Fit::State::kInPart) << "jobs tell when an expression fails on them";
  EXPECT_TRUE(fit().usable());
}

TEST_F(KindChecksTest, AnotherVersionIsNamed) {
  install(version("v1", "boolean", "integer", true, true));
  change(version("v1", "boolean", "integer", false, false) + "," + version("v2", "boolean", "integer", true, true));
  EXPECT_EQ(fit().state, Fit::State::kOtherVersion);
  EXPECT_THAT(fit().notes, ElementsAre("v2"));
  ASSERT_TRUE(remove(apiserver::kCrds, "", "things.example.com").ok());
  ask();
  EXPECT_EQ(fit().state, Fit::State::kAbsent);
  EXPECT_THAT(fit().notes, IsEmpty());
}

TEST_F(KindChecksTest, AChangeOfTheDefinitionIsSeenWithinMinutes) {
  install(version("v1", "boolean", "integer", true, true));
  ASSERT_EQ(patch(apiserver::kCrds, "", "things.example.com",
                  R"({"spec":{"versions":[)" + version("v1", "string", "integer", true, true) + "]}}")
                .code,
            200);
  EXPECT_EQ(fit().state, Fit::State::kFits);
  executor.run_until(executor.now() + std::chrono::minutes(6));
  EXPECT_EQ(fit().state, Fit::State::kMisfit);
}

}  // namespace
}  // namespace berth::controller::kind_checks_test
