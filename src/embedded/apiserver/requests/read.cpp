#include <utility>

#include "api/status.h"
#include "embedded/apiserver/list_options.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/continue_token.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/selection.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kTooOld = "The resourceVersion for the provided list is too old.";
constexpr std::string_view kContinueTooOld =
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without the "
    "continue parameter, or use the continue token in this response to retrieve the remainder of the "
    "results. Continuing "
    "with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the "
    "time the first chunk was returned and now may show up in the list.";

// What a list request shows: which revision, starting where, and how many items.
struct Window {
  Revision at = 0;
  std::string after;
  std::int64_t limit = 0;  // 0: all
};

tl::expected<Window, api::RestResponse> window_of(const Core& core, const api::RestRequest& request) {
  Window window{core.store.readable(), "", std::max<std::int64_t>(request.limit, 0)};
  if (!request.continue_token.empty()) {
    auto token = decode_continue(request.continue_token);
    if (!token) return tl::unexpected(api::bad_request("invalid continue token: " + token.error().message));
    if (token->revision > 0 && token->revision < core.store.floor()) {
      return tl::unexpected(expired(kContinueTooOld, encode({-1, token->after})));
    }
    if (token->revision > 0) window.at = std::min(token->revision, window.at);
    window.after = std::move(token->after);
    return window;
  }
  // kube-apiserver answers this from its watch cache, without paging.
  if (request.resource_version == "0") window.limit = 0;
  if (request.resource_version.empty() || request.resource_version == "0") return window;
  const Revision wanted = *parse_revision(request.resource_version);
  const bool exact =
      request.resource_version_match == "Exact" || (request.resource_version_match.empty() && window.limit > 0);
  if (!exact) return window;
  if (wanted < core.store.floor()) return tl::unexpected(expired(kTooOld, ""));
  window.at = wanted;
  return window;
}

// Items in a list of a built-in kind have no kind and apiVersion.
Json list_item(const ResourceInfo& resource, const Json& object) {
  if (resource.custom) return object;
  JsonObject item;
  const JsonObject& source = object.as_object();
  item.reserve(source.size());
  for (const auto& member : source) {
    if (member.key() != "kind" && member.key() != "apiVersion") item.insert(member);
  }
  return item;
}

}  // namespace

Answer get_object(Core& core, const ResourceInfo& resource, const api::RestRequest& request) {
  const ObjectKey key = key_of(resource, request.ns, request.name);
  const Revision newest = core.store.readable();
  const auto stored = core.store.get_at(key.bucket, key.item, newest);
  if (stored.object == nullptr) return {api::not_found(resource.gvr, request.name), newest};
  return {ok(*in_version(core, resource, stored.object)), stored.revision};
}

std::optional<api::RestResponse> check_list_options(const api::RestRequest& request) {
  const bool watch = request.verb == api::Verb::kWatch;
  const std::string& version = request.resource_version;
  if (const api::FieldErrors errors = list_option_errors(request); !errors.empty())
    return invalid_options("ListOptions", errors);
  if (!request.continue_token.empty() && !version.empty() && version != "0") {
    return api::bad_request("specifying resource version is not allowed when using continue");
  }
  if (!version.empty()) {
    if (const auto revision = parse_revision(version); !revision) {
      return watch ? failure(500, "", revision.error().message)
                   : api::bad_request("invalid resource version: " + revision.error().message);
    }
  }
  return std::nullopt;
}

Answer list_objects(Core& core, const ResourceInfo& resource, const api::RestRequest& request) {
  const auto selection = Selection::parse(resource, request);
  if (!selection) return {api::bad_request(selection.error().message), 0};
  const auto window = window_of(core, request);
  if (!window) return {window.error(), core.store.readable()};

  JsonArray items;
  std::string last;
  std::int64_t remaining = 0;  // items after this page
  const std::string bucket = bucket_of(resource);
  core.store.scan(bucket, selection->prefix(), window->after, window->at,
                  [&](std::string_view item, const JsonPtr& stored) {
                    const bool full = window->limit > 0 && static_cast<std::int64_t>(items.size()) >= window->limit;
                    if (full && !selection->everything()) {
                      // With a selector the rest is not counted: one more match shows that there is another page.
                      if (!selection->matches(*in_version(core, resource, stored))) return true;
                      remaining = 1;
                      return false;
                    }
                    if (full) {
                      ++remaining;
                      return true;
                    }
                    const JsonPtr object = in_version(core, resource, stored);
                    if (!selection->matches(*object)) return true;
                    items.push_back(list_item(resource, *object));
                    last = item;
                    return true;
                  });
  JsonObject metadata{{"resourceVersion", std::to_string(window->at)}};
  if (remaining > 0) {
    metadata["continue"] = encode({window->at, last});
    if (selection->everything()) metadata["remainingItemCount"] = remaining;
  } else if (resource.custom) {
    metadata["continue"] = "";
  }
  Json list = JsonObject{{"kind", resource.list_kind},
                         {"apiVersion", api_version_of(resource)},
                         {"metadata", std::move(metadata)},
                         {"items", std::move(items)}};
  return {ok(std::move(list)), window->at};
}

}  // namespace berth::apiserver
