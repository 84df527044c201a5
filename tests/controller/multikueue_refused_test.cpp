// What the manager's API server does not take: the status of a job from a worker, the reason of an end.
#include "controller/multikueue_fixture.h"

namespace berth::controller::multikueue_refused_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

struct Answer {
  int code;
  const char* message;
  const char* reports;  // the note of the event; "": the status is sent again until it is taken
};

class RefusedStatus : public multikueue_fixture::MultiKueue, public testing::WithParamInterface<Answer> {
 protected:
  void refuse() {
    wires[""]->instead = [this](const api::RestRequest& request) -> std::optional<api::RestResponse> {
      if (request.resource.resource != "jobs" || request.subresource != "status") return std::nullopt;
      ++refused;
      return api::RestResponse{GetParam().code, api::make_status(GetParam().code, "", GetParam().message), {}};
    };
  }
  std::vector<std::string> notes() {
    std::vector<std::string> all;
    for (const auto& event : list("", api::kEvents))
      if (string_at(event, {"reason"}) == "StatusNotCopied") all.emplace_back(string_at(event, {"note"}));
    return all;
  }
  int refused = 0;
};

TEST_P(RefusedStatus, DoesNotHoldTheQuotaOfAJobThatHasEnded) {
  refuse();
  job("a", 1, "1", "2m");
  pass(minutes(1));
  ASSERT_FALSE(cluster_of("a").empty());
  EXPECT_GT(refused, 0);
  pass(minutes(4));
  const std::string reports = GetParam().reports;
  if (reports.empty()) {
    EXPECT_EQ(condition(workload("a"), "Finished"), "") << "its last status may still come";
    wires[""]->instead = nullptr;
    pass(minutes(1));
    EXPECT_EQ(condition(job_on("", "a"), "Complete").substr(0, 4), "True");
  } else {
    ASSERT_EQ(notes().size(), 1u);
    EXPECT_NE(notes().front().find(reports), std::string::npos) << notes().front();
    EXPECT_NE(notes().front().find(GetParam().message), std::string::npos) << notes().front();
  }
  EXPECT_EQ(condition(workload("a"), "Finished").substr(0, 14), "True Succeeded");
  for (const char* worker : {"east", "west"}) EXPECT_TRUE(list(worker, api::kWorkloads).empty()) << worker;
}

TEST_P(RefusedStatus, IsSentAgainNowAndThenWhileTheJobRuns) {
  refuse();
  job("a", 1, "1", "10h");
  pass(minutes(1));
  refused = 0;
  pass(minutes(10));
  EXPECT_GE(refused, 5);
  EXPECT_LE(refused, 25) << "no hot loop";
  wires[""]->instead = nullptr;
  pass(minutes(1) + seconds(10));
  EXPECT_EQ(int_at(job_on("", "a"), {"status", "active"}), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Answers, RefusedStatus,
    testing::Values(Answer{403, "you may not", "allow the controller to patch jobs.batch/status"},
                    Answer{404, "no such thing", "give the definition of jobs.batch the subresource status"},
                    Answer{413, "Request entity too large", "is not one that the API server of the manager takes"},
                    Answer{422, "Job is invalid", "is not one that the API server of the manager takes"},
                    Answer{500, "etcdserver: request is too large",
                           "is not one that the API server of the manager takes"},
                    Answer{500, "a webhook failed", ""}, Answer{429, "too many requests", ""},
                    Answer{401, "Unauthorized", ""}),
    [](const auto& answer) { return std::to_string(answer.param.code) + "Number" + std::to_string(answer.index); });

// The definition on the worker lets every reason pass.
class HostileReason : public multikueue_fixture::MultiKueue {
 protected:
  static void erase_patterns(Json& value) {
    if (value.is_object()) value.as_object().erase("pattern");
    if (value.is_object())
      for (auto& [key, member] : value.as_object()) erase_patterns(member);
    if (value.is_array())
      for (Json& one : value.as_array()) erase_patterns(one);
  }
  void end_with(const std::string& reason, bool succeeds) {
    hold("west", true);
    job("a", 1, "1", succeeds ? "30s" : "10h");
    pass(seconds(10));
    ASSERT_EQ(cluster_of("a"), "east");
    workers.at("east").controller.reset();
    const std::string workloads = "workloads.kueue.x-k8s.io";
    Json definition = get("east", multikueue_fixture::kDefinitions, workloads, "");
    Json versions = *find_path(definition, {"spec", "versions"});
    erase_patterns(versions);
    api::RestRequest request;
    request.verb = api::Verb::kPatch;
    request.resource = multikueue_fixture::kDefinitions;
    request.name = workloads;
    request.body = JsonObject{{"spec", JsonObject{{"versions", versions}}}};
    ASSERT_TRUE(call("east", std::move(request)).ok());
    wires[""]->instead = [](const api::RestRequest& request) -> std::optional<api::RestResponse> {
      if (request.resource.resource != "jobs" || request.subresource != "status") return std::nullopt;
      return api::RestResponse{422, api::make_status(422, "", "not now"), {}};  // else the job here reports the end
    };
    pass(minutes(1));
    const Json copy = copy_on("east", "a");
    JsonArray conditions = array_at(copy, {"status", "conditions"});
    conditions.push_back(JsonObject{{"type", "Finished"},
                                    {"status", "True"},
                                    {"reason", reason},
                                    {"message", "m"},
                                    {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
    const auto set = patch("east", api::kWorkloads, "default", std::string(string_at(copy, {"metadata", "name"})),
                           to_string(Json(JsonObject{{"status", JsonObject{{"conditions", conditions}}}})), "status");
    ASSERT_TRUE(set.ok()) << api::status_message(set);
    if (!succeeds) remove("east", api::kJobs, "a");
    pass(seconds(20));
  }
};

TEST_F(HostileReason, ThatNoConditionMayHaveIsThatOfTheJob) {
  end_with("two words", true);
  EXPECT_EQ(condition(workload("a"), "Finished"), "True Succeeded: m");
}

TEST_F(HostileReason, ThatNoConditionMayHaveIsAFailureWhenNobodyCanTell) {
  end_with("-", false);
  EXPECT_EQ(condition(workload("a"), "Finished"), "True Failed: m");
}

}  // namespace
}  // namespace berth::controller::multikueue_refused_test
