#include "cli/queues/what_if_question.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/visibility/visibility.h"
#include "cli/queues/questions.h"

namespace berth::cli::queues {
namespace {

// Denials of webhooks do not name the object.
std::string with_its_name(const std::string& kind, const std::string& name, const std::string& refusal) {
  return name.empty() || refusal.find(name) != std::string::npos ? refusal : kind + " " + name + ": " + refusal;
}

api::RestResponse ask(Server& server, std::string_view resource, const std::string& ns, Json what_if) {
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = visibility_resource(resource);
  request.ns = ns;
  request.body = std::move(what_if);
  return server.call(std::move(request));
}

Result<Json> reported(Server& server, api::RestResponse response, std::string_view resource) {
  if (response.ok()) return std::move(response.body);
  const std::string why = response.code == 404 ? why_not_served(server) : "";
  return fail(why.empty() ? server.explain(response, visibility_resource(resource)) : why);
}

}  // namespace

Result<Json> as_stored(Opened& opened, Discovery& discovery, const ObjectToApply& each) {
  auto found = discovery.by_kind(string_at(each.object, {"apiVersion"}), string_at(each.object, {"kind"}));
  if (!found) return fail(each.origin + ": " + found.error().message);
  api::RestRequest request;
  request.resource = found->resource;
  request.name = string_at(each.object, {"metadata", "name"});
  request.body = each.object;
  request.dry_run = true;
  request.field_manager = "berth-what-if";
  if (found->namespaced) {
    request.ns = string_at(each.object, {"metadata", "namespace"}, opened.ns);
    ensure_path(request.body, {"metadata", "namespace"}) = request.ns;
  }
  if (request.name.empty()) {
    request.verb = api::Verb::kCreate;
  } else {
    request.verb = api::Verb::kPatch;
    request.patch_type = api::PatchType::kApply;
    request.force = true;
  }
  const std::string name = request.name;
  api::RestResponse response = opened.server->call(std::move(request));
  if (!response.ok())
    return fail(each.origin + ": " +
                with_its_name(found->kind, name, opened.server->explain(response, found->resource)));
  return std::move(response.body);
}

bool is_no_job(const FoundResource& found) {
  constexpr std::array<std::string_view, 7> kinds = {"ClusterQueue", "Cohort",         "LocalQueue", "ResourceFlavor",
                                                     "Topology",     "AdmissionCheck", "Workload"};
  if (found.resource.group == api::kueue::kGroup) return std::ranges::find(kinds, found.kind) != kinds.end();
  return found.resource.group.empty() && found.kind == "Node";
}

Json what_if_of(JsonObject spec) {
  const auto resource = visibility_resource(api::visibility::kWhatIfs);
  return JsonObject{{"kind", api::visibility::kWhatIfKind},
                    {"apiVersion", resource.group + "/" + resource.version},
                    {"spec", std::move(spec)}};
}

Result<Json> ask_what_if(Server& server, Json what_if) {
  return reported(server, ask(server, api::visibility::kWhatIfs, "", std::move(what_if)), api::visibility::kWhatIfs);
}

Result<Json> ask_what_if_in(Server& server, const std::string& ns, JsonObject spec) {
  Json question = what_if_of(std::move(spec));
  api::RestResponse everywhere = ask(server, api::visibility::kWhatIfs, "", question);
  if (everywhere.code != 403) return reported(server, std::move(everywhere), api::visibility::kWhatIfs);
  question.get_object()["kind"] = api::visibility::kLocalWhatIfKind;
  api::RestResponse here = ask(server, api::visibility::kLocalWhatIfs, ns, std::move(question));
  // An older controller has no such questions.
  if (here.code == 404) return reported(server, std::move(everywhere), api::visibility::kWhatIfs);
  return reported(server, std::move(here), api::visibility::kLocalWhatIfs);
}

}  // namespace berth::cli::queues
