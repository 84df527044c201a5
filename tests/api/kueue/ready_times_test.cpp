// The annotation kueue.x-k8s.io/wait-for-pods-ready: what is read from it, and who may set and change it (KEP-4803).
#include "api/kueue/ready_times.h"

#include <gtest/gtest.h>

#include "api/batch/job_validation.h"
#include "api/kueue/deployment_rules.h"
#include "api/kueue/names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/stateful_set_rules.h"
#include "base/yaml.h"

namespace berth::api::kueue::ready_times_test {
namespace {

using std::chrono::seconds;

const LabelRules kOn{true, seconds(7200)};

std::string errors_of(const FieldErrors& errors) { return errors.empty() ? "" : to_string(errors); }
Json job(std::string_view annotation, bool suspended = true) {
  Json out = parse_yaml(R"(
metadata: {name: j, namespace: ns, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {parallelism: 1, template: {spec: {containers: [{name: c, image: i}]}}}
)")
                 .value()
                 .front();
  ensure_path(out, {"spec", "suspend"}) = suspended;
  if (!annotation.empty()) ensure_path(out, {"metadata", "annotations", kWaitForPodsReady}) = Json(annotation);
  return out;
}

TEST(ReadyTimes, TheRecoveryMayTakeAsLongAsTheStartUnlessItIsNamed) {
  EXPECT_EQ(parse_ready_times(R"({"timeoutSeconds": 100})").value(), (ReadyTimes{seconds(100), seconds(100)}));
  EXPECT_EQ(parse_ready_times(R"({"timeoutSeconds": 100, "recoveryTimeoutSeconds": 50})").value(),
            (ReadyTimes{seconds(100), seconds(50)}));
  ObjectMeta meta;
  EXPECT_EQ(ready_times(meta), std::nullopt);
  meta.annotations[std::string(kWaitForPodsReady)] = R"({"timeoutSeconds": "x"})";
  EXPECT_EQ(ready_times(meta), std::nullopt) << "the times of the Configuration count";
}

TEST(ReadyTimes, WhatCannotBeReadIsRefusedWithWhatIsExpected) {
  const std::string object = R"(must be a JSON object such as {"timeoutSeconds": 600, "recoveryTimeoutSeconds": 300})";
  const std::string whole = " must be a whole number of seconds, at least 1";
  const struct {
    std::string text, error;
  } cases[] = {
      {"100", object},
      {"{timeoutSeconds: 100}", object},
      {R"({"timeoutSeconds":)", object},
      {"{}", "must set timeoutSeconds"},
      {R"({"recoveryTimeoutSeconds": 5})", "must set timeoutSeconds"},
      {R"({"timeoutSeconds": 0})", "timeoutSeconds" + whole},
      {R"({"timeoutSeconds": -1})", "timeoutSeconds" + whole},
      {R"({"timeoutSeconds": 1.5})", "timeoutSeconds" + whole},
      {R"({"timeoutSeconds": "foo"})", "timeoutSeconds" + whole},
      {R"({"timeoutSeconds": 9223372036854775807})", "timeoutSeconds" + whole},
      {R"({"timeoutSeconds": 18446744073709551615})", "timeoutSeconds" + whole},
      {R"({"timeoutSeconds": 1, "recoveryTimeoutSeconds": 0})", "recoveryTimeoutSeconds" + whole},
  };
  for (const auto& c : cases) {
    const auto read = parse_ready_times(c.text);
    ASSERT_FALSE(read) << c.text;
    EXPECT_EQ(read.error().message, c.error) << c.text;
    EXPECT_EQ(errors_of(batch::validate_job(job(c.text), kOn)),
              "metadata.annotations[kueue.x-k8s.io/wait-for-pods-ready]: Invalid value: " + to_string(Json(c.text)) +
                  ": " + c.error);
    EXPECT_EQ(errors_of(batch::validate_job(job(c.text))), "") << "without its gate the annotation means nothing";
  }
}

TEST(ReadyTimes, NobodyAsksForMoreThanTheConfigurationAllows) {
  const auto refused = [](std::string_view text) { return errors_of(batch::validate_job(job(text), kOn)); };
  EXPECT_EQ(refused(R"({"timeoutSeconds": 7200, "recoveryTimeoutSeconds": 7200})"), "");
  EXPECT_TRUE(
      refused(R"({"timeoutSeconds": 7201})")
          .ends_with("timeoutSeconds must be at most 7200: waitForPodsReady.maxTimeoutOnWorkload allows no more"));
  EXPECT_NE(
      refused(R"({"timeoutSeconds": 1, "recoveryTimeoutSeconds": 7201})").find(": recoveryTimeoutSeconds must be"),
      std::string::npos);
}

TEST(ReadyTimes, AJobThatRunsKeepsIts) {
  const std::string one = R"({"timeoutSeconds": 1})", two = R"({"timeoutSeconds": 2})";
  const auto change = [&](const std::string& to, bool suspended) {
    return errors_of(batch::validate_job_update(job(to, suspended), job(one, suspended), false, kOn));
  };
  EXPECT_EQ(change(two, true), "");
  EXPECT_EQ(change(one, false), "");
  EXPECT_TRUE(change(two, false).ends_with("field is immutable"));
  EXPECT_TRUE(change("", false).ends_with("field is immutable"));
  EXPECT_NE(change("{}", true), "");
}

// The limit was lowered, or the gate was off: the job must be stopped and deleted like any other.
TEST(ReadyTimes, WhatWasStoredBeforeRefusesNoOtherChange) {
  for (const std::string stored : {R"({"timeoutSeconds": 9000})", "{}"}) {
    for (const bool suspended : {true, false}) {
      const Json before = job(stored, suspended);
      Json now = before;
      ensure_path(now, {"metadata", "labels", "team"}) = "a";
      const JobContext context{.labels = kOn};
      EXPECT_EQ(errors_of(batch::validate_job_update(now, before, false, kOn)), "");
      EXPECT_EQ(errors_of(validate_stateful_set_update(now, before, context)), "");
      EXPECT_EQ(errors_of(validate_deployment_update(now, before, context)), "");
      EXPECT_EQ(errors_of(validate_pod_update(now, before, context)).find("wait-for-pods-ready"), std::string::npos);
    }
  }
}

// Kinds that have rules of their own.
TEST(ReadyTimes, PodsAndServingSetsAreCheckedToo) {
  Json bad = job("{}");
  const std::string why = "must set timeoutSeconds";
  const JobContext context{.labels = kOn};
  EXPECT_TRUE(errors_of(validate_stateful_set(bad, context)).ends_with(why));
  EXPECT_TRUE(errors_of(validate_deployment(bad, context)).ends_with(why));
  EXPECT_TRUE(errors_of(validate_stateful_set_update(bad, job(""), context)).ends_with(why));
  Json runs = job(R"({"timeoutSeconds": 2})");
  Json before = job(R"({"timeoutSeconds": 1})");
  ensure_path(before, {"status", "readyReplicas"}) = 1;
  EXPECT_TRUE(errors_of(validate_stateful_set_update(runs, before, context)).ends_with("field is immutable"));
  EXPECT_NE(errors_of(validate_pod(bad, context)).find(why), std::string::npos);
}

}  // namespace
}  // namespace berth::api::kueue::ready_times_test
