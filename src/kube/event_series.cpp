#include "kube/event_series.h"

#include <functional>
#include <string_view>
#include <tuple>

namespace berth::kube {

namespace {

std::size_t mixed(std::size_t seed, std::string_view text) { return seed * 31 + std::hash<std::string_view>()(text); }

}  // namespace

std::size_t ObjectHash::operator()(const ObjectRef* object) const {
  return mixed(mixed(mixed(0, object->uid), object->ns), object->name);
}

bool SameObject::operator()(const ObjectRef* a, const ObjectRef* b) const {
  const auto who = [](const ObjectRef& o) { return std::tie(o.uid, o.name, o.ns, o.kind, o.api_version); };
  return who(*a) == who(*b);
}

std::size_t RecentEvents::Hash::operator()(const Happened& event) const {
  const std::size_t what = mixed(ObjectHash()(event.regarding), event.text->reason);
  return mixed(what, event.text->by_note ? event.text->note : event.regarding->resource_version);
}

bool RecentEvents::Equal::operator()(const Happened& a, const Happened& b) const {
  const auto what = [](const EventText& t) { return std::tie(t.reason, t.action, t.controller, t.warning, t.by_note); };
  if (!SameObject()(a.regarding, b.regarding) || what(*a.text) != what(*b.text)) return false;
  const bool same_note = a.text->note == b.text->note;
  if (a.text->by_note) return same_note;
  return a.regarding->resource_version == b.regarding->resource_version && (same_note || !a.text->warning);
}

EventSeriesPtr RecentEvents::find(const ObjectRef& regarding, const EventText& text) {
  const auto it = happened_.find(Happened{&regarding, &text});
  if (it == happened_.end()) return nullptr;
  order_.splice(order_.begin(), order_, it->at);
  return *it->at;
}

void RecentEvents::add(const EventSeriesPtr& series) {
  order_.push_front(series);
  Happened event = in(*series);
  event.at = order_.begin();
  happened_.insert(event);
  if (order_.size() > bound_) forget(EventSeriesPtr(order_.back()));
}

void RecentEvents::forget(const EventSeriesPtr& series) {
  const auto it = happened_.find(in(*series));
  if (it == happened_.end() || *it->at != series) return;
  const auto at = it->at;
  happened_.erase(it);
  order_.erase(at);
}

}  // namespace berth::kube
