#include "serve/webhooks.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "api/status.h"
#include "serve/reviews.h"

namespace berth::serve {
namespace {

constexpr std::string_view kConvert = "/convert";

struct Page {
  std::string_view path;
  Hook hook = Hook::kValidate;
  std::string_view group, resource;  // whose rules apply
  bool converts() const { return path == kConvert; }
  std::size_t max_bytes() const { return converts() ? kMaxConversionBytes : kMaxAdmissionBytes; }
};

constexpr std::string_view kKueue = "kueue.x-k8s.io";
constexpr std::string_view kLeaderWorkerSet = "leaderworkerset.x-k8s.io";
constexpr std::string_view kVolcano = "scheduling.volcano.sh";
constexpr std::string_view kVolcanoJobs = "batch.volcano.sh";
constexpr Page kPages[] = {
    {kConvert, Hook::kMutate, "", ""},
    {"/mutate--v1-pod", Hook::kMutate, "", "pods"},
    {"/mutate-apps-v1-deployment", Hook::kMutate, "apps", "deployments"},
    {"/mutate-apps-v1-statefulset", Hook::kMutate, "apps", "statefulsets"},
    {"/mutate-batch-v1-job", Hook::kMutate, "batch", "jobs"},
    {"/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset", Hook::kMutate, kLeaderWorkerSet, "leaderworkersets"},
    {"/mutate-kueue-x-k8s-io-v1beta2-clusterqueue", Hook::kMutate, kKueue, "clusterqueues"},
    {"/mutate-kueue-x-k8s-io-v1beta2-resourceflavor", Hook::kMutate, kKueue, "resourceflavors"},
    {"/mutate-kueue-x-k8s-io-v1beta2-workload", Hook::kMutate, kKueue, "workloads"},
    {"/validate--v1-pod", Hook::kValidate, "", "pods"},
    {"/validate-apps-v1-deployment", Hook::kValidate, "apps", "deployments"},
    {"/validate-apps-v1-statefulset", Hook::kValidate, "apps", "statefulsets"},
    {"/validate-batch-v1-job", Hook::kValidate, "batch", "jobs"},
    {"/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset", Hook::kValidate, kLeaderWorkerSet, "leaderworkersets"},
    {"/validate-kueue-x-k8s-io-v1beta2-clusterqueue", Hook::kValidate, kKueue, "clusterqueues"},
    {"/validate-kueue-x-k8s-io-v1beta2-cohort", Hook::kValidate, kKueue, "cohorts"},
    {"/validate-kueue-x-k8s-io-v1beta2-resourceflavor", Hook::kValidate, kKueue, "resourceflavors"},
    {"/validate-kueue-x-k8s-io-v1beta2-workload", Hook::kValidate, kKueue, "workloads"},
    {"/jobs/mutate", Hook::kMutate, kVolcanoJobs, "jobs"},
    {"/jobs/validate", Hook::kValidate, kVolcanoJobs, "jobs"},
    {"/podgroups/mutate", Hook::kMutate, kVolcano, "podgroups"},
    {"/podgroups/validate", Hook::kValidate, kVolcano, "podgroups"},
    {"/queues/mutate", Hook::kMutate, kVolcano, "queues"},
    {"/queues/validate", Hook::kValidate, kVolcano, "queues"},
};

// The pages of the kinds that descriptions add. A cluster may have Kueue's own webhook configurations: without an
// answer on these paths it refuses every object of these kinds, so kinds that are not managed have pages as well.
std::optional<Page> page_of_kind(std::string_view path, const api::kueue::AdmissionPolicy& policy) {
  for (const auto& [prefix, hook] : {std::pair(std::string_view("/mutate-"), Hook::kMutate),
                                     std::pair(std::string_view("/validate-"), Hook::kValidate)}) {
    if (!path.starts_with(prefix)) continue;
    for (const auto& kind : policy.kinds) {
      if (!kind.webhook_path.empty() && path.substr(prefix.size()) == kind.webhook_path)
        return Page{kind.webhook_path, hook, kind.resource.group, kind.resource.resource};
    }
  }
  return std::nullopt;
}

std::optional<Page> page_of(std::string_view target, const api::kueue::AdmissionPolicy& policy) {
  // The API server adds ?timeout=10s.
  const std::string_view path = target.substr(0, target.find('?'));
  const auto it = std::find_if(std::begin(kPages), std::end(kPages), [&](const Page& p) { return p.path == path; });
  return it != std::end(kPages) ? *it : page_of_kind(path, policy);
}

http::HttpResponse json_answer(int status, const Json& body) {
  return {status, {{"Content-Type", "application/json"}}, to_string(body)};
}

http::HttpResponse refusal(int status, std::string_view reason, std::string_view message) {
  return json_answer(status, api::make_status(status, reason, message));
}

// A review to be answered on the executor; or the answer, when the executor is not needed.
struct Review final : http::Handler::Parsed {
  using Parsed::Parsed;
  std::optional<Page> page;
  Json review;
  std::optional<http::HttpResponse> answer;
};

http::HttpResponse answered(const Result<Json>& answer) {
  return answer ? json_answer(200, *answer) : refusal(400, "BadRequest", answer.error().message);
}

}  // namespace

WebhookHandler::WebhookHandler(api::kueue::ObjectGetter get, api::kueue::AdmissionPolicy policy,
                               api::kueue::RulesOf more, AskForOwner ask)
    : get_(std::move(get)), policy_(std::move(policy)), more_(std::move(more)), ask_(std::move(ask)) {}

const api::kueue::AdmissionRules& WebhookHandler::rules_of(std::string_view group, std::string_view resource,
                                                           api::kueue::AdmissionRules& own) const {
  const auto& rules = api::kueue::admission_rules(group, resource, policy_);
  const bool known = rules.mutate || rules.check || rules.remove || rules.warn;
  if (known || !more_) return rules;
  own = more_(group, resource);
  return own;
}

std::unique_ptr<http::Handler::Parsed> WebhookHandler::parse(http::HttpRequest request) const {
  auto asked = std::make_unique<Review>(std::move(request));
  asked->page = page_of(asked->http.target, policy_);
  if (!asked->page) {
    asked->answer = http::not_found_page();
  } else if (asked->http.method != "POST") {
    asked->answer = refusal(405, "MethodNotAllowed", "reviews are sent with POST");
    asked->answer->headers.push_back({"Allow", "POST"});
  }
  asked->max_body = asked->answer ? 0 : asked->page->max_bytes();
  return asked;
}

void WebhookHandler::decode(Parsed& request) const {
  auto& asked = static_cast<Review&>(request);
  if (asked.answer) return;
  if (asked.http.body_too_large) {
    asked.answer = refusal(413, "RequestEntityTooLarge",
                           "the review is larger than " + std::to_string(asked.page->max_bytes()) + " bytes");
  } else if (auto review = parse_json(asked.http.body, {.max_bytes = asked.page->max_bytes()}); !review) {
    asked.answer = refusal(400, "BadRequest", "the body is no JSON: " + review.error().message);
  } else if (asked.page->converts()) {
    // A conversion needs only the review: any thread can do it.
    asked.answer = answered(answer_conversion(*review));
  } else {
    asked.review = std::move(*review);
  }
  asked.http.body = std::string();
}

std::unique_ptr<http::Exchange> WebhookHandler::execute(std::unique_ptr<Parsed> request,
                                                        std::shared_ptr<http::ResponseSink> sink) {
  auto& asked = static_cast<Review&>(*request);
  if (asked.answer) {
    sink->respond([answer = std::move(*asked.answer)] { return answer; });
    return nullptr;
  }
  auto review = std::make_shared<const Json>(std::move(asked.review));
  return search_owners(
      created_in(*review), {get_, policy_}, ask_,
      [this, page = *asked.page, review, sink](const api::kueue::ObjectGetter& get, const std::string& failure) {
        api::kueue::AdmissionRules own;
        auto answer = failure.empty()
                          ? answered(answer_admission(page.hook, page.group, page.resource, *review,
                                                      rules_of(page.group, page.resource, own), {get, policy_}))
                          : refusal(500, "InternalError", failure);
        sink->respond([answer = std::move(answer)] { return answer; });
      });
}

Result<std::unique_ptr<WebhookServer>> WebhookServer::start(SecureServerOptions options, Executor& executor,
                                                            api::kueue::ObjectGetter get,
                                                            api::kueue::AdmissionPolicy policy,
                                                            CertificateSource& certificates, api::kueue::RulesOf more,
                                                            AskForOwner ask) {
  options.max_body_bytes = kMaxConversionBytes;
  // An API server shows no credentials here, so its reviews count as those of a stranger.
  options.stranger_bytes_per_peer = kMaxReviewBytesPerPeer;
  options.stranger_bytes = kMaxReviewBytes;
  std::unique_ptr<WebhookServer> out(new WebhookServer(
      std::make_unique<WebhookHandler>(std::move(get), std::move(policy), std::move(more), std::move(ask))));
  auto server = SecureServer::start(*out->handler_, executor, certificates, std::move(options));
  if (!server) return fail("webhooks: " + server.error().message);
  out->server_ = std::move(*server);
  return out;
}

}  // namespace berth::serve
