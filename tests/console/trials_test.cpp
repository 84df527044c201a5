#include "console/trials.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/yaml.h"

namespace berth::console::trials_test {
namespace {

Json body(const std::string& ns, const std::string& queue, const std::string& manifest) {
  return JsonObject{{"namespace", ns}, {"queue", queue}, {"manifest", manifest}};
}

std::string wrong(const Json& given) {
  const auto read = read_trial(given);
  return read ? "" : read.error().message;
}

const std::string kJob = "apiVersion: batch/v1\nkind: Job\nspec: {}\n";

TEST(Trial, HasTheNamespaceAndTheChosenQueue) {
  const auto trial = read_trial(body("red", "spare", kJob));
  ASSERT_TRUE(trial) << trial.error().message;
  EXPECT_EQ(to_string(trial->job), R"({"apiVersion":"batch/v1","kind":"Job","spec":{},"metadata":{"namespace":"red",)"
                                   R"("name":"trial","labels":{"kueue.x-k8s.io/queue-name":"spare"}}})");
}

TEST(Trial, SaysWhatIsWrong) {
  EXPECT_EQ(wrong(body("", "q", kJob)), "namespace: expected the name of a namespace");
  EXPECT_EQ(wrong(body("red", "a/b", kJob)), "queue: expected the name of a LocalQueue");
  EXPECT_EQ(wrong(body("red", "q", "")), "manifest: expected one job, found 0 objects");
  EXPECT_EQ(wrong(body("red", "q", kJob + "---\n" + kJob)), "manifest: expected one job, found 2 objects");
  EXPECT_EQ(wrong(body("red", "q", "kind: Job")), "manifest: expected an object with apiVersion and kind");
  EXPECT_TRUE(wrong(body("red", "q", "a: [")).starts_with("manifest: "));
  for (const char* version : {"../../v1", "batch/v1?x=1", "batch/v1%2f"})
    EXPECT_EQ(wrong(body("red", "q", "{apiVersion: '" + std::string(version) + "', kind: Job}")),
              "manifest: apiVersion: expected a version such as batch/v1");
  EXPECT_EQ(wrong(body("red", "q", kJob + "metadata: {namespace: blue}")),
            "manifest: metadata.namespace is blue, expected the chosen namespace red");
  EXPECT_TRUE(wrong(body("red", "", kJob)).starts_with("manifest: the label kueue.x-k8s.io/queue-name is missing"));
}

// An API server that answers at once.
class User final : public api::RestClient {
 public:
  explicit User(std::vector<api::RestRequest>& seen) : seen_(seen) {}
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    seen_.push_back(request);
    if (request.ns == "blue")
      return done({403, JsonObject{{"kind", "Status"}, {"message", "jobs.batch is forbidden"}}, {}});
    if (request.dry_run) return done({201, request.body, {}});
    done({201, JsonObject{{"status", JsonObject{{"arrivals", JsonArray()}}}}, {}});
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest, std::function<void(const api::WatchEvent&)>,
                                          std::function<void()>) override {
    return nullptr;
  }

 private:
  std::vector<api::RestRequest>& seen_;
};

struct Asked {
  std::vector<api::RestRequest> seen;
  http::HttpResponse response;
  std::string token;

  Asked(const std::string& ns, const std::string& manifest) {
    const auto as_user = [this](const std::string& given) -> Result<std::shared_ptr<api::RestClient>> {
      token = given;
      return std::make_shared<User>(seen);
    };
    const auto read = [](const std::string& path, const std::function<void(api::RestResponse)>& done) {
      if (path != "/apis/batch/v1") return done({404, Json(), {}});
      done({200,
            parse_yaml("{resources: [{name: jobs/status, kind: Job, namespaced: true}, {name: jobs, kind: Job, "
                       "namespaced: true}, {name: rooms, kind: Room}]}")
                .value()
                .front(),
            {}});
    };
    auto trial = read_trial(body(ns, "spare", manifest));
    EXPECT_TRUE(trial);
    try_job(as_user, "ann-token", read, std::move(*trial), [this](http::HttpResponse given) { response = given; });
  }
};

TEST(Trial, IsADryRunAndAQuestionWithTheTokenOfTheUser) {
  const Asked asked("red", kJob);
  EXPECT_EQ(asked.token, "ann-token");
  EXPECT_EQ(asked.response.status, 200);
  EXPECT_EQ(asked.response.body, R"({"queue":"spare","status":{"arrivals":[]}})");
  ASSERT_EQ(asked.seen.size(), 2u);
  EXPECT_TRUE(asked.seen[0].dry_run) << "nothing is created";
  EXPECT_EQ(asked.seen[0].resource.resource, "jobs");
  EXPECT_EQ(asked.seen[1].resource.resource, "localwhatifs");
  EXPECT_EQ(asked.seen[1].ns, "red");
}

TEST(Trial, IsRefusedAsTheServerDoes) {
  const Asked forbidden("blue", kJob);
  EXPECT_EQ(forbidden.response.status, 403);
  EXPECT_NE(forbidden.response.body.find("jobs.batch is forbidden"), std::string::npos);
  EXPECT_EQ(forbidden.seen.size(), 1u) << "nothing is asked after that";
  EXPECT_EQ(Asked("red", "{apiVersion: batch/v1, kind: Room}").response.status, 400);
  EXPECT_EQ(Asked("red", "{apiVersion: batch/v1, kind: Jbo}").response.status, 400);
  EXPECT_EQ(Asked("red", "{apiVersion: lab/v9, kind: Job}").response.status, 400);
}

}  // namespace
}  // namespace berth::console::trials_test
