#include "serve/webhooks.h"

#include <gtest/gtest.h>

#include "api/kueue/unlisted_kinds.h"
#include "base/base64.h"
#include "serve/keeping_sink.h"

namespace berth::serve::webhooks_test {
namespace {

class Webhooks : public testing::Test {
 protected:
  http::HttpResponse post(const std::string& target, const std::string& body) {
    return ask(handler, request_of("POST", target, body)).get()->response.value();
  }
  static std::string review(std::string_view group, std::string_view resource) {
    return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","resource":{"group":")" +
           std::string(group) + R"(","version":"v1","resource":")" + std::string(resource) +
           R"("},"object":{"metadata":{"name":"x","namespace":"a","labels":{"kueue.x-k8s.io/queue-name":"q"}},"spec":{}}}})";
  }

  JsonPtr default_queue;
  WebhookHandler handler{[this](const api::GroupVersionResource& what, std::string_view, std::string_view) {
                           return what.resource == "localqueues" ? default_queue : nullptr;
                         },
                         {}};
};

TEST_F(Webhooks, AnswerOnKueuesPaths) {
  constexpr std::string_view kKueue = "kueue.x-k8s.io";
  const struct {
    std::string path;
    std::string_view group, resource;
  } cases[] = {
      {"/mutate--v1-pod", "", "pods"},
      {"/validate--v1-pod", "", "pods"},
      {"/mutate-apps-v1-deployment", "apps", "deployments"},
      {"/validate-apps-v1-deployment", "apps", "deployments"},
      {"/mutate-apps-v1-statefulset", "apps", "statefulsets"},
      {"/validate-apps-v1-statefulset", "apps", "statefulsets"},
      {"/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset", "leaderworkerset.x-k8s.io", "leaderworkersets"},
      {"/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset", "leaderworkerset.x-k8s.io", "leaderworkersets"},
      {"/mutate-batch-v1-job", "batch", "jobs"},
      {"/validate-batch-v1-job", "batch", "jobs"},
      {"/mutate-kueue-x-k8s-io-v1beta2-workload", kKueue, "workloads"},
      {"/mutate-kueue-x-k8s-io-v1beta2-clusterqueue", kKueue, "clusterqueues"},
      {"/mutate-kueue-x-k8s-io-v1beta2-resourceflavor", kKueue, "resourceflavors"},
      {"/validate-kueue-x-k8s-io-v1beta2-workload", kKueue, "workloads"},
      {"/validate-kueue-x-k8s-io-v1beta2-clusterqueue", kKueue, "clusterqueues"},
      {"/validate-kueue-x-k8s-io-v1beta2-resourceflavor", kKueue, "resourceflavors"},
      {"/validate-kueue-x-k8s-io-v1beta2-cohort", kKueue, "cohorts"},
  };
  for (const auto& c : cases) {
    const auto answer = post(c.path + "?timeout=10s", review(c.group, c.resource));
    EXPECT_EQ(answer.status, 200) << c.path << answer.body;
    EXPECT_EQ(answer.header("Content-Type"), "application/json");
    EXPECT_TRUE(bool_at(parse_json(answer.body).value(), {"response", "allowed"})) << answer.body;
    EXPECT_EQ(post(c.path, review("", "nodes")).status, 400);
  }
}

TEST_F(Webhooks, LookUpWhatAJobNeeds) {
  const std::string labelled = review("batch", "jobs");
  const std::string plain = [&] {
    Json r = parse_json(labelled).value();
    erase_path(r, {"request", "object", "metadata", "labels"});
    return to_string(r);
  }();
  const auto patch = [&] {
    const Json answer = parse_json(post("/mutate-batch-v1-job", plain).body).value();
    return base64_decode(string_at(answer, {"response", "patch"})).value();
  };
  EXPECT_EQ(patch(), "");
  default_queue = std::make_shared<const Json>(JsonObject());
  EXPECT_NE(patch().find(R"("kueue.x-k8s.io/queue-name":"default")"), std::string::npos) << patch();
}

// The paths use the rules in `more`; without them everything is allowed.
TEST_F(Webhooks, AnswerOnVolcanosPaths) {
  WebhookHandler with_rules({}, {}, [](std::string_view, std::string_view resource) {
    api::kueue::AdmissionRules rules;
    rules.mutate = [](Json& object, const auto&) { ensure_path(object, {"spec", "seen"}) = true; };
    rules.check = [resource = std::string(resource)](const Json&, const Json*, std::string_view, const auto&) {
      return api::FieldErrors{api::required("spec." + resource, "none")};
    };
    return rules;
  });
  constexpr std::string_view kScheduling = "scheduling.volcano.sh";
  const struct {
    std::string path;
    std::string_view group, resource;
  } cases[] = {{"/queues/", kScheduling, "queues"},
               {"/podgroups/", kScheduling, "podgroups"},
               {"/jobs/", "batch.volcano.sh", "jobs"}};
  for (const auto& c : cases) {
    const std::string asked = review(c.group, c.resource);
    for (const std::string hook : {"mutate", "validate"}) {
      const auto without = post(c.path + hook + "?timeout=10s", asked);
      EXPECT_TRUE(bool_at(parse_json(without.body).value(), {"response", "allowed"})) << without.body;
      EXPECT_EQ(post(c.path + hook, review("", "pods")).status, 400);
    }
    const auto answer = [&](const std::string& hook) {
      return parse_json(ask(with_rules, request_of("POST", c.path + hook, asked)).get()->response.value().body).value();
    };
    EXPECT_NE(string_at(answer("mutate"), {"response", "patch"}), "");
    const Json refused = answer("validate");
    EXPECT_FALSE(bool_at(refused, {"response", "allowed"}, true));
    EXPECT_NE(string_at(refused, {"response", "status", "message"}).find("spec." + std::string(c.resource)),
              std::string_view::npos)
        << to_string(refused);
  }
}

// With Kueue's own webhook configurations in the cluster, the API server calls the paths of kinds that are not managed.
TEST_F(Webhooks, AnswerForTheKindsOfThePolicy) {
  api::kueue::AdmissionRules rules;
  rules.warn = [](const Json& object, const Json* old, const api::kueue::AdmissionContext&) {
    return api::kueue::unlisted_kind_warning(object, old, "Thing", "things.example.org/thing");
  };
  api::kueue::AdmissionPolicy policy;
  policy.kinds = {{{"things.example.org", "v1", "things"}, "Thing", "things-example-org-v1-thing", false, rules},
                  {{"owners.example.org", "v1", "owners"}, "Owner", "", true, {}}};
  WebhookHandler knowing([](auto&&...) { return nullptr; }, policy);
  const auto post_to = [&](const std::string& path, const std::string& body) {
    return ask(knowing, request_of("POST", path, body)).get()->response.value();
  };
  const struct {
    std::string path;
    std::string_view group, resource;
  } cases[] = {{"things-example-org-v1-thing", "things.example.org", "things"}};
  const Json allowed = JsonObject{{"allowed", true}, {"uid", "u"}};
  const auto response = [&](const std::string& path, const Json& asked) {
    const auto answer = post_to(path + "?timeout=10s", to_string(asked));
    EXPECT_EQ(answer.status, 200) << path << answer.body;
    return parse_json(answer.body).value().at("response");
  };
  for (const auto& c : cases) {
    Json asked = parse_json(review(c.group, c.resource)).value();
    ensure_path(asked, {"request", "object", "kind"}) = "Thing";
    EXPECT_EQ(response("/mutate-" + c.path, asked), allowed);
    Json warned = allowed;
    warned.as_object()["warnings"] = JsonArray{
        "Thing \"x\" runs without quota, though the label kueue.x-k8s.io/queue-name names the queue \"q\": "
        "integrations.frameworks does not list \"things.example.org/thing\"; add it to Berth's configuration, or "
        "remove the "
        "label"};
    EXPECT_EQ(response("/validate-" + c.path, asked), warned);
    // An update that leaves the queue name as it is was answered before.
    ensure_path(asked, {"request", "operation"}) = "UPDATE";
    ensure_path(asked, {"request", "oldObject"}) = asked.at("request").at("object");
    EXPECT_EQ(response("/validate-" + c.path, asked), allowed);
    erase_path(asked, {"request", "oldObject", "metadata", "labels"});
    EXPECT_EQ(response("/validate-" + c.path, asked), warned);
    EXPECT_EQ(post_to("/validate-" + c.path, R"({"kind":"AdmissionReview"})").status, 400);
  }
  for (const std::string path : {"/mutate-", "/validate-v1-pod", "/mutate--v1-pods", "/validate-apps-v1-daemonset",
                                 "/convert--v1-pod", "/mutate-apps-v1-deployment/"})
    EXPECT_EQ(post_to(path, review("", "pods")).status, 404) << path;
}

TEST_F(Webhooks, PodsAreCompletedAndJudgedWhenTheyAreManaged) {
  WebhookHandler managing([](auto&&...) { return nullptr; }, {.manage_pods = true});
  const auto response = [](WebhookHandler& asked, const std::string& path, const Json& body) {
    const auto answer = ask(asked, request_of("POST", path, to_string(body))).get()->response.value();
    EXPECT_EQ(answer.status, 200) << answer.body;
    return parse_json(answer.body).value().at("response");
  };
  const Json queued = parse_json(review("", "pods")).value();
  const Json changed = response(managing, "/mutate--v1-pod", queued);
  EXPECT_NE(base64_decode(string_at(changed, {"patch"})).value().find("kueue.x-k8s.io/admission"), std::string::npos);
  Json free = queued;
  erase_path(free, {"request", "object", "metadata", "labels"});
  const Json allowed = JsonObject{{"allowed", true}, {"uid", "u"}};
  EXPECT_EQ(response(managing, "/mutate--v1-pod", free), allowed);
  Json wrong = queued;
  ensure_path(wrong, {"request", "object", "metadata", "labels", "kueue.x-k8s.io/managed"}) = "no";
  const Json refused = response(managing, "/validate--v1-pod", wrong);
  EXPECT_FALSE(bool_at(refused, {"allowed"}, true));
  EXPECT_EQ(int_at(refused, {"status", "code"}), 403);
  EXPECT_EQ(string_at(refused, {"status", "message"}),
            "metadata.labels[kueue.x-k8s.io/managed]: Forbidden: managed label value can only be 'true'");
  // Switched off: no change, no refusal, and a warning for the pod with a queue name.
  EXPECT_EQ(response(handler, "/mutate--v1-pod", queued), allowed);
  EXPECT_EQ(response(handler, "/validate--v1-pod", free), allowed);
  for (const Json& body : {queued, wrong}) {
    Json warned = allowed;
    warned.as_object()["warnings"] = JsonArray{
        "Pod \"x\" runs without quota, though the label kueue.x-k8s.io/queue-name names the queue \"q\": "
        "integrations.frameworks does not list \"pod\"; add it to Berth's configuration, or remove the label"};
    EXPECT_EQ(response(handler, "/validate--v1-pod", body), warned);
  }
}

// A watch is late: the pod of a queued Job is created before the cache has the Job.
TEST_F(Webhooks, AskForAnOwnerThatTheCacheDoesNotHave) {
  std::vector<std::string> asked;
  std::function<void(api::RestResponse)> report;
  WebhookHandler managing([](auto&&...) { return nullptr; }, {.manage_pods = true}, {},
                          [&](const api::kueue::UnknownOwner& owner, std::function<void(api::RestResponse)> done) {
                            asked.push_back(owner.resource.resource + " " + owner.ns + "/" + owner.name);
                            report = std::move(done);
                          });
  Json pod = parse_json(review("", "pods")).value();
  ensure_path(pod, {"request", "object", "metadata", "ownerReferences"}) = JsonArray{
      JsonObject{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", "j"}, {"uid", "1"}, {"controller", true}}};
  const auto answer = [&](const api::RestResponse& owner) {
    asked.clear();
    const auto sink = std::make_shared<KeepingSink>();
    const auto exchange = managing.handle(request_of("POST", "/mutate--v1-pod", to_string(pod)), sink);
    EXPECT_EQ(asked, std::vector<std::string>{"jobs a/j"});
    EXPECT_FALSE(sink->response) << "it waits";
    report(owner);
    return sink->response.value_or(http::HttpResponse());
  };
  const auto gated = [](const http::HttpResponse& response) {
    const auto patch = base64_decode(string_at(parse_json(response.body).value_or(Json()), {"response", "patch"}));
    return patch && patch->find("kueue.x-k8s.io/admission") != std::string::npos;
  };
  const auto job = [](std::string_view uid, std::string_view queue) {
    const Json labels = JsonObject{{"kueue.x-k8s.io/queue-name", queue}};
    const Json found = JsonObject{{"metadata", JsonObject{{"name", "j"}, {"uid", uid}, {"labels", labels}}}};
    return api::RestResponse{200, JsonObject{{"items", JsonArray{found}}}, {}};
  };
  EXPECT_FALSE(gated(answer(job("1", "q")))) << "its Job has the quota";
  EXPECT_TRUE(gated(answer(job("1", "")))) << "its Job is not queued";
  EXPECT_TRUE(gated(answer(job("2", "q")))) << "another Job of the same name";
  EXPECT_TRUE(gated(answer({200, JsonObject{{"items", JsonArray()}}, {}}))) << "it is gone";
  EXPECT_TRUE(gated(answer({404, Json(), {}}))) << "its kind is not installed";
  EXPECT_TRUE(gated(answer({403, Json(), {}}))) << "no cache has it either";
  const auto failed = answer({0, Json(), {}});
  EXPECT_EQ(failed.status, 500) << "the API server sends the pod again";
  EXPECT_NE(failed.body.find("cannot tell whether the owner jobs a/j is queued"), std::string::npos) << failed.body;
  {
    const auto sink = std::make_shared<KeepingSink>();
    auto exchange = managing.handle(request_of("POST", "/mutate--v1-pod", to_string(pod)), sink);
    exchange.reset();
    report(job("1", "q"));
    EXPECT_FALSE(sink->response) << "the client has gone";
  }
  asked.clear();
  ensure_path(pod, {"request", "operation"}) = "UPDATE";
  ensure_path(pod, {"request", "oldObject"}) = pod.at("request").at("object");
  EXPECT_EQ(ask(managing, request_of("POST", "/validate--v1-pod", to_string(pod)))->response->status, 200);
  EXPECT_TRUE(asked.empty()) << "it is decided when the pod is created";
}

// Kinds whose pods are queued keep their pods marked when they change.
TEST_F(Webhooks, DeploymentsAreCompletedOnUpdatesToo) {
  WebhookHandler managing([](auto&&...) { return nullptr; }, {.manage_pods = true, .manage_deployments = true});
  Json asked = parse_json(review("apps", "deployments")).value();
  const auto patch = [&](WebhookHandler& served) {
    const auto answer = ask(served, request_of("POST", "/mutate-apps-v1-deployment", to_string(asked)));
    return base64_decode(string_at(parse_json(answer.get()->response.value().body).value(), {"response", "patch"}))
        .value();
  };
  EXPECT_NE(patch(managing).find("pod-suspending-parent"), std::string::npos);
  EXPECT_EQ(patch(handler), "");
  ensure_path(asked, {"request", "operation"}) = "UPDATE";
  ensure_path(asked, {"request", "oldObject"}) = asked.at("request").at("object");
  EXPECT_NE(patch(managing).find("pod-suspending-parent"), std::string::npos);
  ensure_path(asked, {"request", "subResource"}) = "scale";
  EXPECT_EQ(patch(managing), "");
}

TEST_F(Webhooks, ConvertBetweenVersions) {
  const auto answer =
      post("/convert", R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u",)"
                       R"("desiredAPIVersion":"kueue.x-k8s.io/v1beta2","objects":[{"apiVersion":)"
                       R"("kueue.x-k8s.io/v1beta1","kind":"Cohort","metadata":{"name":"c"}}]}})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find(R"("apiVersion":"kueue.x-k8s.io/v1beta2")"), std::string::npos);
}

TEST_F(Webhooks, SayWhatIsWrongWithARequest) {
  const auto message = [](const http::HttpResponse& answer) {
    return std::string(string_at(parse_json(answer.body).value(), {"message"}));
  };
  const auto broken = post("/convert", "{");
  EXPECT_EQ(broken.status, 400);
  EXPECT_TRUE(message(broken).starts_with("the body is no JSON: ")) << message(broken);
  EXPECT_EQ(post("/convert", "[]").status, 400);
  EXPECT_EQ(post("/validate-batch-v1-job", R"({"kind":"AdmissionReview"})").status, 400);
  EXPECT_EQ(post("/convert/more", "{}").status, 404);
  const auto get = ask(handler, request_of("GET", "/convert"))->response.value();
  EXPECT_EQ(get.status, 405);
  EXPECT_EQ(get.header("Allow"), "POST");
}

TEST_F(Webhooks, BodiesHaveABound) {
  const auto large = post("/validate-batch-v1-job", std::string(kMaxAdmissionBytes + 1, ' '));
  EXPECT_EQ(large.status, 413);
  EXPECT_NE(large.body.find("8388608 bytes"), std::string::npos) << large.body;
  auto cut = request_of("POST", "/convert");
  cut.body_too_large = true;
  EXPECT_EQ(ask(handler, std::move(cut))->response.value().status, 413);
}

}  // namespace
}  // namespace berth::serve::webhooks_test
