#include "embedded/simulate/hands.h"

#include <utility>

#include "base/yaml.h"

namespace berth::simulation {
namespace {

api::RestRequest about(const api::GroupVersionResource& resource, const Json& object) {
  api::RestRequest request;
  request.resource = resource;
  request.ns = string_at(object, {"metadata", "namespace"});
  request.name = string_at(object, {"metadata", "name"});
  return request;
}

}  // namespace

Json yaml(const std::string& text) { return parse_yaml(text).value().front(); }

std::string number(std::uint64_t n) { return std::to_string(n); }

std::string pick(simulate::Random& random, std::initializer_list<const char*> choices) {
  return *(choices.begin() + static_cast<std::ptrdiff_t>(random.below(choices.size())));
}

void Hands::create(const api::GroupVersionResource& resource, const std::string& ns, Json object) {
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = resource;
  request.ns = ns;
  request.body = std::move(object);
  client_.call(std::move(request), [](const api::RestResponse&) {});
}

void Hands::patch(const api::GroupVersionResource& resource, const std::string& subresource, const Json& object,
                  Json body) {
  api::RestRequest request = about(resource, object);
  request.verb = api::Verb::kPatch;
  request.patch_type = api::PatchType::kMerge;
  request.subresource = subresource;
  request.body = std::move(body);
  client_.call(std::move(request), [](const api::RestResponse&) {});
}

void Hands::remove(const api::GroupVersionResource& resource, const Json& object, const std::string& propagation) {
  api::RestRequest request = about(resource, object);
  request.verb = api::Verb::kDelete;
  if (!propagation.empty()) request.body = JsonObject{{"propagationPolicy", propagation}};
  client_.call(std::move(request), [](const api::RestResponse&) {});
}

void Hands::list(const api::GroupVersionResource& resource, std::function<void(std::vector<Json>)> then) {
  api::RestRequest request;
  request.verb = api::Verb::kList;
  request.resource = resource;
  client_.call(std::move(request), [then = std::move(then)](const api::RestResponse& response) {
    std::vector<Json> items;
    for (const auto& item : array_at(response.body, {"items"})) items.push_back(item);
    then(std::move(items));
  });
}

void Hands::patch_some(const api::GroupVersionResource& resource, std::string subresource, Patch make) {
  list(resource, [this, resource, subresource = std::move(subresource),
                  make = std::move(make)](const std::vector<Json>& objects) {
    if (objects.empty()) return;
    const Json& object = objects[random_.below(objects.size())];
    if (Json body = make(object); !body.is_null()) patch(resource, subresource, object, std::move(body));
  });
}

void Hands::patch_all(const api::GroupVersionResource& resource, std::string subresource, Patch make) {
  list(resource, [this, resource, subresource = std::move(subresource),
                  make = std::move(make)](const std::vector<Json>& objects) {
    for (const auto& object : objects) {
      if (Json body = make(object); !body.is_null()) patch(resource, subresource, object, std::move(body));
    }
  });
}

void Hands::remove_some(const api::GroupVersionResource& resource) {
  list(resource, [this, resource](const std::vector<Json>& objects) {
    if (objects.empty()) return;
    const Json& object = objects[random_.below(objects.size())];
    remove(resource, object, pick(random_, {"Background", "Foreground"}));
  });
}

}  // namespace berth::simulation
