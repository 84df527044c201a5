#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedded/apiserver/builtin/support.h"

namespace berth::apiserver::job_test {
namespace {

using testing::HasSubstr;

std::string job_with(std::string_view members, std::string_view pod = R"("restartPolicy":"Never")") {
  return R"({"metadata":{"name":"j","namespace":"ns"},"spec":{)" + std::string(members) + (members.empty() ? "" : ",") +
         R"("template":{"spec":{)" + std::string(pod) + R"(,"containers":[{"name":"c","image":"i"}]}}}})";
}
Json created(std::string_view text) { return Kind("Job", "batch").created(text); }

TEST(NewJob, HasDefaultsThatDependOnEachOther) {
  Json one = created(job_with(""));
  EXPECT_EQ(int_at(one, {"spec", "parallelism"}), 1);
  EXPECT_EQ(int_at(one, {"spec", "completions"}), 1);
  EXPECT_EQ(int_at(one, {"spec", "backoffLimit"}), 6);
  EXPECT_EQ(string_at(one, {"spec", "podReplacementPolicy"}), "TerminatingOrFailed");
  Json queue = created(job_with(R"("parallelism":3)"));
  EXPECT_EQ(find_path(queue, {"spec", "completions"}), nullptr);
  Json indexed = created(job_with(R"("completionMode":"Indexed","completions":4,"backoffLimitPerIndex":1)"));
  EXPECT_EQ(int_at(indexed, {"spec", "backoffLimit"}), 2147483647);
  Json policy = created(job_with(
      R"("podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]})"));
  EXPECT_EQ(string_at(policy, {"spec", "podReplacementPolicy"}), "Failed");
  EXPECT_THAT(to_string(policy), HasSubstr(R"({"type":"DisruptionTarget","status":"True"})"));
}

TEST(NewJob, GetsASelectorAndLabelsOfItsOwn) {
  Json job = created(job_with(""));
  EXPECT_EQ(to_string(*find_path(job, {"spec", "selector"})),
            R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"uid-1"}})");
  const char* kLabels =
      R"({"batch.kubernetes.io/controller-uid":"uid-1","batch.kubernetes.io/job-name":"j","controller-uid":"uid-1","job-name":"j"})";
  EXPECT_EQ(canonical_json(*find_path(job, {"spec", "template", "metadata", "labels"})), kLabels);
  EXPECT_EQ(canonical_json(*find_path(job, {"metadata", "labels"})), kLabels);
  EXPECT_EQ(to_string(*find(job, "status")), "{}");
}

TEST(NewJob, KeepsLabelsOfItsOwn) {
  Json job = json(job_with(""));
  ensure_path(job, {"metadata", "labels"}) = json(R"({"a":"b"})");
  EXPECT_EQ(to_string(*find_path(created(to_string(job)), {"metadata", "labels"})), R"({"a":"b"})");
}

TEST(NewJob, IsTakenWithASelectorByHandOnlyWhenItSaysSo) {
  std::string errors = Kind("Job", "batch").create_errors(job_with(R"("selector":{"matchLabels":{"a":"b"}})"));
  EXPECT_THAT(errors, HasSubstr("spec.selector: Invalid value"));
  EXPECT_THAT(errors, HasSubstr("`selector` not auto-generated"));
  EXPECT_THAT(errors, HasSubstr("`selector` does not match template `labels`"));
  Json manual = json(job_with(R"("manualSelector":true,"selector":{"matchLabels":{"a":"b"}})"));
  ensure_path(manual, {"spec", "template", "metadata", "labels"}) = json(R"({"a":"b"})");
  EXPECT_EQ(Kind("Job", "batch").create_errors(to_string(manual)), "");
}

TEST(JobValidation, NamesTheFieldAndTheRule) {
  const std::pair<std::string, const char*> kCases[] = {
      {job_with("", R"("dnsPolicy":"Default")"),
       "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\""},
      {job_with(R"("parallelism":-1)"), "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"},
      {job_with(R"("completionMode":"Indexed","parallelism":2)"),
       "spec.completions: Required value: when completion mode is Indexed"},
      {job_with(R"("completionMode":"Both")"), "spec.completionMode: Unsupported value: \"Both\""},
      {job_with(R"("backoffLimitPerIndex":1)"),
       "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"},
      {job_with(R"("managedBy":"me")"), "spec.managedBy: Invalid value: \"me\": must be a domain-prefixed path"},
      {job_with(R"("podReplacementPolicy":"Never")"), "spec.podReplacementPolicy: Unsupported value: \"Never\""},
      {job_with(R"("successPolicy":{"rules":[{"succeededCount":1}]})"), "requires indexed completion mode"},
      {job_with(R"("completionMode":"Indexed","completions":2,"successPolicy":{"rules":[{"succeededCount":3}]})"),
       "must be less than or equal to 2 (the number of specified completions)"},
      {job_with(R"("podFailurePolicy":{"rules":[{"action":"FailJob"}]})"),
       "specifying one of OnExitCodes and OnPodConditions is required"},
      {job_with(R"("podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[0]}}]})"),
       "must not be 0 for the In operator"},
      {job_with(
           R"("podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[1],"containerName":"x"}}]})"),
       "must be one of the container or initContainer names in the pod template"},
      {job_with(R"("podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"T"}]}]})",
                R"("restartPolicy":"OnFailure")"),
       "only \"Never\" is supported when podFailurePolicy is specified"},
  };
  for (const auto& [job, words] : kCases) EXPECT_THAT(Kind("Job", "batch").create_errors(job), HasSubstr(words)) << job;
}

class JobUpdate : public testing::Test {
 protected:
  static std::string errors(const Json& next, const Json& old, std::string_view subresource = "") {
    return Kind("Job", "batch").update_errors(next, old, subresource);
  }
  static Json& template_spec(Json& job) { return ensure_path(job, {"spec", "template", "spec"}); }
};

TEST_F(JobUpdate, MayChangeCountsButNotCompletions) {
  Json old = created(job_with(R"("parallelism":1,"completions":3)"));
  Json next = old;
  ensure_path(next, {"spec", "parallelism"}) = 2;
  ensure_path(next, {"spec", "suspend"}) = true;
  EXPECT_EQ(errors(next, old), "");
  ensure_path(next, {"spec", "completions"}) = 4;
  EXPECT_THAT(errors(next, old), HasSubstr("spec.completions: Invalid value: 4: field is immutable"));
  Json elastic = created(job_with(R"("completionMode":"Indexed","parallelism":3,"completions":3)"));
  next = elastic;
  ensure_path(next, {"spec", "completions"}) = 5;
  ensure_path(next, {"spec", "parallelism"}) = 5;
  EXPECT_EQ(errors(next, elastic), "");
}

TEST_F(JobUpdate, MayChangePlacementAndResourcesWhileSuspendedAndNotStarted) {
  Json old = created(job_with(R"("suspend":true)"));
  Json next = old;
  ensure_path(template_spec(next), {"nodeSelector"}) = json(R"({"k":"v"})");
  ensure_path(template_spec(next), {"tolerations"}) = json(R"([{"key":"t","operator":"Exists"}])");
  ensure_path(template_spec(next), {"schedulingGates"}) = json(R"([{"name":"g"}])");
  ensure_path(next, {"spec", "template", "metadata", "labels", "x"}) = "y";
  template_spec(next).as_object()["containers"].as_array()[0].as_object()["resources"] =
      json(R"({"requests":{"cpu":"2"}})");
  EXPECT_EQ(errors(next, old), "");

  Json started = old;
  ensure_path(started, {"status", "startTime"}) = "2026-11-21T09:00:00Z";
  EXPECT_THAT(errors(next, started), HasSubstr("spec.template: Invalid value"));
  Json running = old;
  ensure_path(running, {"spec", "suspend"}) = false;
  EXPECT_THAT(errors(next, running), HasSubstr("field is immutable"));

  next = old;
  template_spec(next).as_object()["containers"].as_array()[0].as_object()["image"] = "other";
  EXPECT_THAT(errors(next, old), HasSubstr("spec.template.spec: Invalid value"));
  next = old;
  ensure_path(template_spec(next), {"affinity"}) =
      json(R"({"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z"}]}})");
  EXPECT_THAT(errors(next, old), HasSubstr("field is immutable"));
}

TEST_F(JobUpdate, KeepsTheRestAsItWas) {
  Json old = created(job_with(R"("completionMode":"Indexed","completions":2,"managedBy":"a.io/b")"));
  const std::pair<const char*, const char*> kChanges[] = {{"completionMode", R"("NonIndexed")"},
                                                          {"managedBy", R"("c.io/d")"},
                                                          {"backoffLimitPerIndex", "1"},
                                                          {"successPolicy", R"({"rules":[{"succeededCount":1}]})"},
                                                          {"selector", R"({"matchLabels":{"a":"b"}})"}};
  for (const auto& [key, value] : kChanges) {
    Json next = old;
    next.as_object()["spec"].as_object()[key] = json(value);
    EXPECT_THAT(errors(next, old), HasSubstr(std::string("spec.") + key + ": Invalid value")) << key;
  }
}

TEST_F(JobUpdate, OfTheStatusTellsTheTruth) {
  Json old = created(job_with(""));
  auto with_status = [&](std::string_view status) {
    Json next = old;
    next.as_object()["status"] = json(status);
    return next;
  };
  EXPECT_EQ(errors(with_status(R"({"conditions":[{"type":"Complete","status":"True"}]})"), old, "status"),
            "[status.completionTime: Required value: completionTime is required for Complete jobs, "
            "status.conditions: Invalid value: "
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition, "
            "status.startTime: Required value: "
            "startTime is required for finished job]");
  Json done = with_status(
      R"({"startTime":"2026-11-21T09:00:00Z","completionTime":"2026-11-21T09:01:00Z","succeeded":1,
      "conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]})");
  EXPECT_EQ(errors(done, old, "status"), "");
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"startTime":"2026-11-21T09:00:00Z","conditions":[{"type":"Failed","status":"True"}]})",
       "without the FailureTarget=true condition"},
      {R"({"active":-1})", "status.active: Invalid value: -1"},
      {R"({"ready":2,"active":1})", "cannot set more ready pods than active"},
      {R"({"completionTime":"2026-11-21T09:00:00Z"})",
       "cannot set completionTime when there is no Complete=True condition"},
      {R"({"conditions":[{"type":"A","status":"True"},{"type":"A","status":"True"}]})",
       "status.conditions[1]: Duplicate value"},
      {R"({"completedIndexes":"1"})", "cannot set non-empty completedIndexes when non-indexed completion mode"},
      {R"({"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"FailureTarget","status":"True"}]})",
       "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"},
  };
  for (const auto& [status, words] : kCases)
    EXPECT_THAT(errors(with_status(status), old, "status"), HasSubstr(words)) << status;
  Json reopened = done;
  reopened.as_object()["status"] = json(R"({"startTime":"2026-11-21T09:00:00Z","succeeded":0})");
  EXPECT_THAT(errors(reopened, done, "status"), HasSubstr("cannot disable Complete=True condition"));
  EXPECT_THAT(errors(reopened, done, "status"), HasSubstr("cannot decrease the succeeded counter"));
}

}  // namespace
}  // namespace berth::apiserver::job_test
