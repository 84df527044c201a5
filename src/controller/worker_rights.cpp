#include "controller/worker_rights.h"

#include <memory>
#include <utility>

#include "api/resources.h"
#include "base/json.h"

namespace berth::controller {
namespace {

const api::GroupVersionResource kAccessReviews{"authorization.k8s.io", "v1", "selfsubjectaccessreviews"};

struct Questions {
  std::vector<WantedRights> wanted;
  std::vector<std::vector<std::string>> denied;  // verbs, for each of them
  std::size_t open = 0;
  std::function<void(const MissingRights&)> done;
};

MissingRights missing_of(const Questions& questions) {
  MissingRights missing;
  std::string& out = missing.text;
  for (std::size_t i = 0; i < questions.wanted.size(); ++i) {
    if (questions.denied[i].empty()) continue;
    const WantedRights& one = questions.wanted[i];
    (one.needed ? missing.needed : missing.wished) = true;
    std::string verbs;
    for (const auto& verb : questions.denied[i]) verbs += (verbs.empty() ? "" : ", ") + verb;
    out += (out.empty() ? "" : "; ") + verbs + " " + one.resource + "." + one.group +
           (one.subresource.empty() ? "" : "/" + one.subresource);
  }
  return missing;
}

bool is_denied(const api::RestResponse& response) {
  const Json* allowed = response.ok() ? find_path(response.body, {"status", "allowed"}) : nullptr;
  if (allowed == nullptr || !allowed->is_bool() || allowed->get_bool()) return false;
  return string_at(response.body, {"status", "evaluationError"}).empty();
}

api::RestRequest question(const WantedRights& one, const std::string& verb) {
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = kAccessReviews;
  JsonObject what{{"group", one.group}, {"resource", one.resource}, {"verb", verb}};
  if (!one.subresource.empty()) what["subresource"] = one.subresource;
  request.body = JsonObject{{"apiVersion", "authorization.k8s.io/v1"},
                            {"kind", "SelfSubjectAccessReview"},
                            {"spec", JsonObject{{"resourceAttributes", std::move(what)}}}};
  return request;
}

}  // namespace

std::vector<WantedRights> rights_for_copies() {
  const auto& workloads = api::kWorkloads;
  return {{workloads.group, workloads.resource, "", {"get", "list", "watch", "create", "patch", "delete"}},
          {workloads.group, workloads.resource, "status", {"patch"}}};
}

std::vector<WantedRights> rights_for(const multikueue::RemoteKind& kind) {
  const auto& [group, version, resource] = kind.resource;
  std::vector<WantedRights> out{{group, resource, "", {"get", "list", "watch", "create", "delete"}}};
  if (!kind.synced.empty()) out.push_back({group, resource, "", {"patch"}, false});
  return out;
}

void ask_for_rights(api::RestClient& client, std::vector<WantedRights> wanted,
                    std::function<void(const MissingRights& missing)> done) {
  const auto questions = std::make_shared<Questions>();
  questions->wanted = std::move(wanted);
  questions->denied.resize(questions->wanted.size());
  questions->done = std::move(done);
  for (const auto& one : questions->wanted) questions->open += one.verbs.size();
  if (questions->open == 0) return questions->done({});
  for (std::size_t i = 0; i < questions->wanted.size(); ++i) {
    for (const std::string& verb : questions->wanted[i].verbs) {
      client.call(question(questions->wanted[i], verb), [questions, i, verb](const api::RestResponse& response) {
        if (is_denied(response)) questions->denied[i].push_back(verb);
        if (--questions->open == 0) questions->done(missing_of(*questions));
      });
    }
  }
}

}  // namespace berth::controller
