// Pod templates are validated and defaulted like pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedded/apiserver/builtin/support.h"

namespace berth::apiserver::pod_template_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kTemplate = R"({"metadata":{"name":"t","namespace":"ns"},
  "template":{"metadata":{"labels":{"b":"2","a":"1"}},"spec":{"restartPolicy":"Never","containers":[
    {"name":"c","image":"i","resources":{"limits":{"cpu":"2"}}},{"name":"d","image":"j:v1"}]}}})";

TEST(PodTemplate, GetsTheDefaultsOfTemplatesNotThoseOfPods) {
  const Json object = Kind("PodTemplate").created(kTemplate);
  const Json& spec = *find_path(object, {"template", "spec"});
  EXPECT_EQ(string_at(spec, {"dnsPolicy"}), "ClusterFirst");
  EXPECT_EQ(string_at(spec, {"schedulerName"}), "default-scheduler");
  const JsonArray& containers = array_at(spec, {"containers"});
  EXPECT_EQ(string_at(containers[0], {"imagePullPolicy"}), "Always");
  EXPECT_EQ(string_at(containers[1], {"imagePullPolicy"}), "IfNotPresent");
  EXPECT_EQ(find_path(containers[0], {"resources", "requests"}),
            nullptr);  // only in pods do limits become requests
  EXPECT_EQ(find(spec, "enableServiceLinks"), nullptr);
  EXPECT_EQ(find(object, "status"), nullptr);
}

TEST(PodTemplate, IsRefusedAsItsPodsWouldBe) {
  Kind templates("PodTemplate");
  EXPECT_EQ(templates.create_errors(kTemplate), "");
  EXPECT_THAT(templates.create_errors(R"({"metadata":{"name":"t"},"template":{"spec":{"containers":[]}}})"),
              HasSubstr("template.spec.containers: Required value"));
  EXPECT_THAT(templates.create_errors(
                  R"({"metadata":{"name":"t"},"template":{"metadata":{"labels":{"a":"no blanks"}},
                  "spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"-1"}}}]}}})"),
              testing::AllOf(HasSubstr("template.labels: Invalid value"),
                             HasSubstr("template.spec.containers[0].resources.requests[cpu]: Invalid value")));
}

TEST(PodTemplate, ShowsContainersImagesAndLabels) {
  Kind templates("PodTemplate");
  EXPECT_THAT(templates.cells(templates.created(kTemplate), "2026-11-21T09:00:00Z"),
              ElementsAre("c,d", "i,j:v1", "a=1,b=2"));
}

}  // namespace
}  // namespace berth::apiserver::pod_template_test
