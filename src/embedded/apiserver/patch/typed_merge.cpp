// Merges a configuration into a live object.
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "embedded/apiserver/patch/typed_value.h"

namespace berth::apiserver {
namespace {

using Shape = TypeRef::Shape;

Json merge(const Json& live, const Json& config, const TypeRef& type);

Json merge_maps(const JsonObject& live, const JsonObject& config, const TypeRef& type) {
  JsonObject out = live;
  for (const auto& [key, value] : config) {
    Json* mine = out.if_contains(key);
    if (mine == nullptr) {
      out.emplace(key, value);
    } else {
      *mine = merge(*mine, value, type.member({key.data(), key.size()}).type);
    }
  }
  return out;
}

// Items of the configuration keep its order. An item that only the live list has keeps its position relative to the
// items in both lists: it comes before the next shared item.
class ListMerge {
 public:
  ListMerge(const JsonArray& live, const JsonArray& config, const TypeRef& type)
      : live_(live), config_(config), type_(type) {
    for (const auto& item : live) {
      live_elements_.push_back(type.element(item));
      if (live_elements_.back()) in_live_.emplace(*live_elements_.back(), &item);
    }
    for (const auto& item : config) {
      config_elements_.push_back(type.element(item));
      if (config_elements_.back()) in_config_.emplace(*config_elements_.back(), &item);
    }
    next_shared_.resize(config.size());
    const PathElement* next = nullptr;
    for (std::size_t i = config.size(); i-- > 0;) {
      if (in_live(config_elements_[i]) != nullptr) next = &*config_elements_[i];
      next_shared_[i] = next;
    }
  }

  JsonArray run() {
    for (std::size_t i = 0; i < config_.size(); ++i) {
      const Json* mine = in_live(config_elements_[i]);
      emit_live_until(next_shared_[i]);
      out_.push_back(mine == nullptr ? config_[i] : merge(*mine, config_[i], type_.item()));
    }
    emit_live_until(nullptr);
    return std::move(out_);
  }

 private:
  const Json* in_live(const std::optional<PathElement>& element) const {
    if (!element) return nullptr;
    const auto at = in_live_.find(*element);
    return at == in_live_.end() ? nullptr : at->second;
  }

  void emit_live_until(const PathElement* stop) {
    for (; cursor_ < live_.size(); ++cursor_) {
      const auto& element = live_elements_[cursor_];
      if (element && stop != nullptr && *element == *stop) return;
      if (!element || !in_config_.contains(*element)) out_.push_back(live_[cursor_]);
    }
  }

  const JsonArray& live_;
  const JsonArray& config_;
  const TypeRef& type_;
  std::vector<std::optional<PathElement>> live_elements_, config_elements_;
  std::map<PathElement, const Json*> in_live_, in_config_;
  std::vector<const PathElement*> next_shared_;  // the first item at or after each of the configuration that is in both
  std::size_t cursor_ = 0;
  JsonArray out_;
};

Json merge(const Json& live, const Json& config, const TypeRef& type) {
  const Shape shape = type.shape(config);
  if (config.is_object() && live.is_object() && shape == Shape::kMap) {
    return merge_maps(live.get_object(), config.get_object(), type);
  }
  if (config.is_array() && live.is_array() && shape != Shape::kLeaf) {
    return ListMerge(live.get_array(), config.get_array(), type).run();
  }
  return config;
}

}  // namespace

Json merge_typed(const Json& live, const Json& config, const Schema& schema) {
  return merge(live, config, TypeRef::root(schema));
}

}  // namespace berth::apiserver
