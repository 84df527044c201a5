#include "console/trials.h"

#include <memory>
#include <utility>

#include "api/kueue/names.h"
#include "api/meta.h"
#include "api/status.h"
#include "api/visibility/visibility.h"
#include "base/yaml.h"
#include "console/names.h"
#include "console/replies.h"

namespace berth::console {
namespace {

constexpr std::string_view kNameOfNone = "trial";

http::HttpResponse refused(const api::RestResponse& response) {
  const bool known = response.code == 400 || response.code == 401 || response.code == 403 || response.code == 404 ||
                     response.code == 409 || response.code == 422 || response.code == 429;
  return refusal(known ? response.code : 503, api::failure_text(response));
}

// One trial under way: discovery, a dry run, a what-if.
class Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(std::shared_ptr<api::RestClient> user, Json job, std::function<void(http::HttpResponse)> done)
      : user_(std::move(user)), job_(std::move(job)), done_(std::move(done)) {}

  void begin(const ReadPath& read) {
    const std::string version(string_at(job_, {"apiVersion"}));
    const std::string path = (version.find('/') == std::string::npos ? "/api/" : "/apis/") + version;
    read(path, [self = shared_from_this()](const api::RestResponse& found) { self->create(found); });
  }

 private:
  void create(const api::RestResponse& found) {
    const std::string_view kind = string_at(job_, {"kind"}), version = string_at(job_, {"apiVersion"});
    api::RestRequest request;
    for (const Json& each : array_at(found.body, {"resources"})) {
      const std::string_view name = string_at(each, {"name"});
      if (string_at(each, {"kind"}) != kind || name.find('/') != std::string_view::npos) continue;
      if (!bool_at(each, {"namespaced"}))
        return done_(refusal(400, std::string(kind) + " is no kind of job: its objects are in no namespace"));
      request.resource.resource = name;
    }
    if (request.resource.resource.empty())
      return done_(refusal(400, "the cluster has no kind " + std::string(kind) + " in " + std::string(version)));
    const auto slash = version.find('/');
    request.resource.group = slash == std::string_view::npos ? "" : version.substr(0, slash);
    request.resource.version = slash == std::string_view::npos ? version : version.substr(slash + 1);
    request.verb = api::Verb::kCreate;
    request.ns = string_at(job_, {"metadata", "namespace"});
    request.body = job_;
    request.dry_run = true;
    request.field_manager = "berth-console";
    user_->call(std::move(request), [self = shared_from_this()](api::RestResponse stored) {
      if (!stored.ok()) return self->done_(refused(stored));
      self->ask(std::move(stored.body));
    });
  }

  void ask(Json stored) {
    const std::string queue(string_at(stored, {"metadata", "labels", api::kueue::kQueueLabel}));
    const std::string version(api::visibility::kVersions.front()), group(api::visibility::kGroup);
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = {group, version, std::string(api::visibility::kLocalWhatIfs)};
    request.ns = string_at(stored, {"metadata", "namespace"});
    request.body = JsonObject{{"kind", api::visibility::kLocalWhatIfKind},
                              {"apiVersion", group + "/" + version},
                              {"spec", JsonObject{{"apply", JsonArray{std::move(stored)}}}}};
    user_->call(std::move(request), [self = shared_from_this(), queue](const api::RestResponse& answer) {
      if (!answer.ok()) return self->done_(refused(answer));
      const Json* status = find(answer.body, "status");
      self->done_(
          json_reply(JsonObject{{"queue", queue}, {"status", status == nullptr ? Json(JsonObject()) : *status}}));
    });
  }

  const std::shared_ptr<api::RestClient> user_;
  const Json job_;
  const std::function<void(http::HttpResponse)> done_;
};

}  // namespace

Result<Trial> read_trial(const Json& body) {
  const std::string ns(string_at(body, {"namespace"})), queue(string_at(body, {"queue"}));
  if (!may_be_name(ns)) return fail("namespace: expected the name of a namespace");
  if (!queue.empty() && !may_be_name(queue)) return fail("queue: expected the name of a LocalQueue");
  auto documents = parse_yaml(string_at(body, {"manifest"}));
  if (!documents) return fail("manifest: " + documents.error().message);
  if (documents->size() != 1 || !documents->front().is_object())
    return fail("manifest: expected one job, found " + std::to_string(documents->size()) + " objects");
  Trial trial{std::move(documents->front())};
  if (string_at(trial.job, {"kind"}).empty() || string_at(trial.job, {"apiVersion"}).empty())
    return fail("manifest: expected an object with apiVersion and kind");
  for (const char c : string_at(trial.job, {"apiVersion"})) {  // it becomes a part of a path
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/';
    if (!fine) return fail("manifest: apiVersion: expected a version such as batch/v1");
  }
  if (string_at(trial.job, {"apiVersion"}).find("..") != std::string_view::npos)
    return fail("manifest: apiVersion: expected a version such as batch/v1");
  const std::string own(string_at(trial.job, {"metadata", "namespace"}, ns));
  if (own != ns) return fail("manifest: metadata.namespace is " + own + ", expected the chosen namespace " + ns);
  ensure_path(trial.job, {"metadata", "namespace"}) = ns;
  if (string_at(trial.job, {"metadata", "name"}).empty()) ensure_path(trial.job, {"metadata", "name"}) = kNameOfNone;
  if (!queue.empty()) ensure_path(trial.job, {"metadata", "labels", api::kueue::kQueueLabel}) = queue;
  if (string_at(trial.job, {"metadata", "labels", api::kueue::kQueueLabel}).empty())
    return fail("manifest: the label " + std::string(api::kueue::kQueueLabel) +
                " is missing, and no queue is chosen: the job would not be queued");
  return trial;
}

void try_job(const AsUser& as_user, const std::string& token, const ReadPath& read, Trial trial,
             std::function<void(http::HttpResponse)> done) {
  auto client = as_user(token);
  if (!client) return done(refusal(503, "the API server cannot be used with your token: " + client.error().message));
  std::make_shared<Attempt>(std::move(*client), std::move(trial.job), std::move(done))->begin(read);
}

}  // namespace berth::console
