#include "kube/event_series.h"

#include <functional>
#include <string_view>

namespace berth::kube {

namespace {

std::size_t mixed(std::size_t seed, std::string_view text) {
  return seed * 31 + std::hash<std::string_view>()(text);
}

}  // namespace

std::size_t ObjectRefHash::operator()(const ObjectRef* object) const {
  return mixed(mixed(mixed(0, object->uid), object->ns), object->name);
}

std::size_t RecentEvents::Hash::operator()(const Said& said) const {
  return mixed(mixed(ObjectRefHash()(said.regarding), said.text->reason), said.text->note);
}

EventSeriesPtr RecentEvents::find(const ObjectRef& regarding, const EventText& text) {
  const auto it = said_.find(Said{&regarding, &text});
  if (it == said_.end()) return nullptr;
  order_.splice(order_.begin(), order_, it->at);
  return *it->at;
}

void RecentEvents::add(const EventSeriesPtr& series) {
  order_.push_front(series);
  Said said = said_by(*series);
  said.at = order_.begin();
  said_.insert(said);
  if (order_.size() > bound_) forget(EventSeriesPtr(order_.back()));
}

void RecentEvents::forget(const EventSeriesPtr& series) {
  const auto it = said_.find(said_by(*series));
  if (it == said_.end() || *it->at != series) return;
  const auto at = it->at;
  said_.erase(it);
  order_.erase(at);
}

}  // namespace berth::kube
