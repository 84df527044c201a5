#include "engine/tracked.h"

#include <algorithm>
#include <utility>

namespace berth::engine {

TrackedWorkloads::TrackedWorkloads(const TrackedWorkloads& other)
    : by_id_(other.by_id_.size()),
      all_(other.all_, Before{&by_id_}),
      by_local_queue_(other.by_local_queue_),
      by_cluster_queue_(other.by_cluster_queue_),
      totals_(other.totals_),
      marked_(other.marked_) {
  for (std::size_t i = 0; i < by_id_.size(); ++i) {
    if (other.by_id_[i] == nullptr) continue;
    by_id_[i] = std::make_unique<Tracked>(*other.by_id_[i]);
    by_id_[i]->why = totals_.kept(by_id_[i]->why);
  }
  for (const auto& [when, set] : other.timers_) timers_.emplace(when, same(set));
}

TrackedWorkloads::Set TrackedWorkloads::same(const Set& theirs) const {
  Set ours;
  for (const Tracked* t : theirs) ours.insert(ours.end(), by_id_[t->id.index()].get());
  return ours;
}

const Tracked* TrackedWorkloads::find(std::string_view key) const {
  const WorkloadId* id = all_.find([&](WorkloadId each) { return key.compare(by_id_[each.index()]->key); });
  return id == nullptr ? nullptr : by_id_[id->index()].get();
}

const Tracked* TrackedWorkloads::find(WorkloadId id) const {
  return id.valid() && id.index() < by_id_.size() ? by_id_[id.index()].get() : nullptr;
}

Tracked* TrackedWorkloads::find(std::string_view key) { return const_cast<Tracked*>(std::as_const(*this).find(key)); }
Tracked* TrackedWorkloads::find(WorkloadId id) { return const_cast<Tracked*>(std::as_const(*this).find(id)); }

Tracked& TrackedWorkloads::insert(std::string key, WorkloadId id) {
  auto tracked = std::make_unique<Tracked>();
  Tracked& t = *tracked;
  t.key = std::move(key);
  t.id = id;
  if (by_id_.size() <= id.index()) by_id_.resize(id.index() + 1);
  by_id_[id.index()] = std::move(tracked);
  all_.insert(id);
  return t;
}

void TrackedWorkloads::renumber(const std::function<WorkloadId(const Tracked&)>& id_of) {
  ById former;
  all_.visit(0, [&](WorkloadId id) { return former.push_back(std::move(by_id_[id.index()])), true; });
  all_ = CountedOrder<WorkloadId, Before>(Before{&by_id_});
  by_id_.clear();
  by_local_queue_.clear();
  by_cluster_queue_.clear();
  marked_.clear();
  for (auto& each : former) {
    Tracked& t = *each;
    t.id = id_of(t);
    if (by_id_.size() <= t.id.index()) by_id_.resize(t.id.index() + 1);
    by_id_[t.id.index()] = std::move(each);
    all_.insert(t.id);
    append(by_local_queue_, &Tracked::in_local_queue, t.local_queue, t);
    append(by_cluster_queue_, &Tracked::in_cluster_queue, t.cluster_queue, t);
    t.marked = false;
    mark(t);
  }
}

void TrackedWorkloads::erase(Tracked& t) {
  totals_.count(t, std::nullopt);
  totals_.hold(t, nullptr);
  totals_.wait(t, nullptr);
  unfile(by_local_queue_, &Tracked::in_local_queue, t.local_queue, t);
  unfile(by_cluster_queue_, &Tracked::in_cluster_queue, t.cluster_queue, t);
  set_timer(t, std::nullopt);
  all_.erase(t.id);
  by_id_[t.id.index()].reset();
}

void TrackedWorkloads::append(Index& index, std::size_t Tracked::* position, const std::string& name, Tracked& t) {
  if (name.empty()) return;
  List& list = index[name];
  t.*position = list.size();
  list.push_back(t.id);
}

// The last one of the list takes its position.
void TrackedWorkloads::unfile(Index& index, std::size_t Tracked::* position, const std::string& name, Tracked& t) {
  const auto it = index.find(name);
  if (it == index.end()) return;
  List& list = it->second;
  Tracked& last = *by_id_[list.back().index()];
  last.*position = t.*position;
  list[t.*position] = last.id;
  list.pop_back();
  if (list.empty()) index.erase(it);
}

void TrackedWorkloads::refile(Index& index, std::size_t Tracked::* position, std::string& name, std::string other,
                              Tracked& t) {
  if (name == other) return;
  unfile(index, position, name, t);
  name = std::move(other);
  append(index, position, name, t);
}

void TrackedWorkloads::file(Tracked& t, std::string local_queue, std::string cluster_queue) {
  if (t.local_queue == local_queue && t.cluster_queue == cluster_queue) return;
  totals_.take_out(t);
  refile(by_local_queue_, &Tracked::in_local_queue, t.local_queue, std::move(local_queue), t);
  refile(by_cluster_queue_, &Tracked::in_cluster_queue, t.cluster_queue, std::move(cluster_queue), t);
  totals_.put_in(t);
}

const TrackedWorkloads::List& TrackedWorkloads::listed(const Index& index, std::string_view name) {
  static const List kNone;
  const auto it = index.find(name);
  return it == index.end() ? kNone : it->second;
}

void TrackedWorkloads::set_timer(Tracked& t, std::optional<Time> when) {
  if (t.timer == when) return;
  if (t.timer) {
    const auto it = timers_.find(*t.timer);
    it->second.erase(&t);
    if (it->second.empty()) timers_.erase(it);
  }
  t.timer = when;
  if (when) timers_[*when].insert(&t);
}

std::optional<Time> TrackedWorkloads::earliest() const {
  return timers_.empty() ? std::nullopt : std::optional(timers_.begin()->first);
}

std::vector<Tracked*> TrackedWorkloads::due(Time now) const {
  std::vector<Tracked*> out;
  for (auto it = timers_.begin(); it != timers_.end() && it->first <= now; ++it)
    out.insert(out.end(), it->second.begin(), it->second.end());
  return out;
}

void TrackedWorkloads::mark_local_queue(std::string_view key) {
  for (const WorkloadId id : listed(by_local_queue_, key)) mark(*by_id_[id.index()]);
}

void TrackedWorkloads::mark_cluster_queue(std::string_view name) {
  for (const WorkloadId id : listed(by_cluster_queue_, name)) mark(*by_id_[id.index()]);
}

std::vector<Tracked*> TrackedWorkloads::take_marked() {
  std::vector<Tracked*> taken;
  taken.reserve(marked_.size());
  for (const WorkloadId id : std::exchange(marked_, {})) {
    Tracked* t = find(id);
    if (t != nullptr && std::exchange(t->marked, false)) taken.push_back(t);
  }
  std::ranges::sort(taken, ByKey());
  return taken;
}

}  // namespace berth::engine
