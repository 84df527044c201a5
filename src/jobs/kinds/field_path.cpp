#include "jobs/kinds/field_path.h"

#include "api/field_error.h"
#include "base/overloaded.h"

namespace berth::jobs::kinds {
namespace {

const Json* step(const Json& value, const std::string& name) { return find(value, name); }
const Json* step(const Json& value, std::size_t index) {
  return value.is_array() && index < value.get_array().size() ? &value.get_array()[index] : nullptr;
}

Json* ensure_step(Json& value, const std::string& name) {
  if (!value.is_object()) value = JsonObject();
  return &value.get_object()[name];
}
Json* ensure_step(Json& value, std::size_t index) {
  return value.is_array() && index < value.get_array().size() ? &value.get_array()[index] : nullptr;
}

}  // namespace

Result<Path> parse_path(std::string_view text) {
  Path path(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      path.back() += text[++i];
    } else if (text[i] == '.') {
      path.emplace_back();
    } else {
      path.back() += text[i];
    }
  }
  for (const auto& name : path) {
    if (name.empty()) return fail("a path of member names such as spec.suspend, without empty names");
  }
  if (path.size() > kMaxSteps) return fail("a path of at most " + std::to_string(kMaxSteps) + " names");
  return path;
}

std::string to_string(const Place& place) {
  std::string out;
  for (const auto& part : place) {
    out = std::visit(Overloaded{[&](const std::string& name) { return api::field_path(out, name); },
                                [&](std::size_t index) { return api::index_path(out, index); }},
                     part);
  }
  return out;
}

Place operator+(Place place, const Path& path) {
  place.insert(place.end(), path.begin(), path.end());
  return place;
}
Place operator+(Place place, std::size_t index) {
  place.emplace_back(index);
  return place;
}

const Json* value_at(const Json& object, const Place& place) {
  const Json* value = &object;
  for (const auto& part : place) {
    value = std::visit([value](const auto& key) { return step(*value, key); }, part);
    if (value == nullptr) return nullptr;
  }
  return value;
}

const Json* value_at(const Json& object, const Path& path) { return value_at(object, Place() + path); }

Json* ensure_at(Json& object, const Place& place) {
  Json* value = &object;
  for (const auto& part : place) {
    value = std::visit([value](const auto& key) { return ensure_step(*value, key); }, part);
    if (value == nullptr) return nullptr;
  }
  return value;
}

Json& ensure_at(Json& object, const Path& path) { return *ensure_at(object, Place() + path); }

void erase_at(Json& object, const Place& place) {
  if (place.empty()) return;
  const auto* name = std::get_if<std::string>(&place.back());
  Json* parent = const_cast<Json*>(value_at(object, Place(place.begin(), place.end() - 1)));
  if (name != nullptr && parent != nullptr && parent->is_object()) parent->get_object().erase(*name);
}

}  // namespace berth::jobs::kinds
