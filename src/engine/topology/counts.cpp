// Counts pods of one kind per domain, from the leaves up.
#include "engine/topology/counts.h"

#include <algorithm>
#include <limits>

namespace berth::engine::topology {

namespace {

constexpr std::size_t kMaxKinds = 256;        // kinds of pods counted at the same time
constexpr std::size_t kMaxCells = 2'000'000;  // domains times kinds: 16 MB
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

std::int32_t saturated(std::int64_t count) { return static_cast<std::int32_t>(std::min(count, kMost)); }

const api::NodeConstraints& constraints_of(const PodAsk& ask) {
  static const api::NodeConstraints kNone;
  return ask.constraints ? *ask.constraints : kNone;
}

}  // namespace

Counts::Counts(TopologyLedger& ledger, const CountAsk& ask)
    : ledger_(ledger),
      flavor_(ask.flavor),
      worker_{{ask.pod.requests.begin(), ask.pod.requests.end()},
              ledger.requests.acquire(ask.pod.requests),
              NodeFilter(ask.pod.constraints, ledger.views.find(ask.flavor)->tolerations())},
      slice_level_(ask.wanted->slice_level),
      slice_size_(ask.wanted->slice_size),
      inner_(ask.wanted->inner),
      on_empty_(ask.on_empty),
      view_(ledger.views.find(ask.flavor)) {
  if (!ask.leader) return;
  chief_ = std::make_unique<Pod>(Pod{{ask.leader->requests.begin(), ask.leader->requests.end()},
                                     ledger.requests.acquire(ask.leader->requests),
                                     NodeFilter(ask.leader->constraints, view_->tolerations())});
}

Counts::~Counts() {
  ledger_.requests.release(worker_.request);
  if (chief_) ledger_.requests.release(chief_->request);
}

bool Counts::same(const Pod& pod, const PodAsk& ask) {
  return std::equal(pod.amounts.begin(), pod.amounts.end(), ask.requests.begin(), ask.requests.end(),
                    [](const ResourceAmount& a, const ResourceAmount& b) {
                      return a.resource == b.resource && a.amount == b.amount;
                    }) &&
         pod.filter.constraints() == constraints_of(ask);
}

bool Counts::answers(const CountAsk& ask) const {
  return flavor_ == ask.flavor && on_empty_ == ask.on_empty && (chief_ != nullptr) == (ask.leader != nullptr) &&
         slice_level_ == ask.wanted->slice_level && slice_size_ == ask.wanted->slice_size &&
         inner_ == ask.wanted->inner && same(worker_, ask.pod) && (!chief_ || same(*chief_, *ask.leader));
}

// How many pods fit in the free capacity of a leaf, with one pod of `beside` already there.
std::int32_t Counts::fitting(const LeafDomain& leaf, const Pod& pod, const Pod* beside) const {
  const RequestPool& requests = ledger_.requests;
  if (requests.unknown(pod.request).valid()) return 0;
  std::span<const Cell> other;
  if (beside) other = requests.cells(beside->request);
  std::int64_t best = kMost;
  for (const Cell& cell : requests.cells(pod.request)) {
    Wide free = ledger_.leaves.allocatable(leaf, cell.column);
    free -=
        on_empty_ ? ledger_.usage.used_without_workloads(leaf, cell.column) : ledger_.leaves.used(leaf, cell.column);
    while (!other.empty() && other.front().column < cell.column) other = other.subspan(1);
    if (!other.empty() && other.front().column == cell.column) free -= other.front().amount;
    if (free >= static_cast<Wide>(best) * cell.amount) continue;
    if (free < cell.amount) return 0;
    best = static_cast<std::int64_t>(free) / cell.amount;
  }
  return static_cast<std::int32_t>(best);
}

bool Counts::admits(Pod& pod, const LeafDomain& leaf) {
  if (!leaf.node.valid()) return true;  // a group of nodes
  return pod.filter.look(ledger_.nodes[leaf.node], ledger_.nodes, ledger_.strings) == Fitness::kFits;
}

void Counts::count_leaf(DomainId id) {
  const View::Domain& domain = (*view_)[id];
  const LeafDomain* leaf = domain.gone ? nullptr : &ledger_.leaves[domain.leaf_domain];
  if (leaf && (leaf->banned || !ledger_.leaves.usable(*leaf))) leaf = nullptr;
  Tally alone, with;
  bool leads = false;
  if (leaf) {
    const bool works = admits(worker_, *leaf);
    if (works) alone.pods = fitting(*leaf, worker_, nullptr);
    if (chief_) {
      leads = admits(*chief_, *leaf) && fitting(*leaf, *chief_, nullptr) > 0;
      with.pods = leads && works ? fitting(*leaf, worker_, chief_.get()) : alone.pods;
    }
  }
  alone_[id.index()] = alone;
  if (chief_) {
    with_[id.index()] = with;
    leader_[id.index()] = leads;
  }
  if (scored()) scores_[id.index()] = leaf ? score_of(*leaf) : 0;
  if (slice_level_ == domain.level) set_slices(id);
}

std::int64_t Counts::score_of(const LeafDomain& leaf) {
  if (!leaf.node.valid() || !admits(worker_, leaf)) return 0;
  return worker_.filter.score(ledger_.nodes[leaf.node], ledger_.strings);
}

// The slices of a domain of the slice level, from its pods.
void Counts::set_slices(DomainId id) {
  Tally& alone = alone_[id.index()];
  alone.slices = alone.pods / slice_size_;
  Tally none;
  Tally& with = chief_ ? with_[id.index()] : none;
  with.slices = with.pods / slice_size_;
  if (slice_size_ > 1) rests_[id.index()] = {alone.pods % slice_size_, with.pods % slice_size_};
}

// What a domain contributes to its parent: inner slices are not split.
Counts::Tally Counts::rounded(DomainId id, const Tally& tally) const {
  const std::size_t level = (*view_)[id].level;
  return {level > slice_level_ && level < inner_.size() ? tally.pods - tally.pods % inner_[level] : tally.pods,
          tally.slices};
}

void Counts::sum_up(DomainId id) {
  const View::Domain& domain = (*view_)[id];
  std::int64_t pods = 0, slices = 0, score = 0;
  Less less;
  for (DomainId child : domain.children) {
    if (scored()) score += scores_[child.index()];
    const Tally alone = rounded(child, alone_[child.index()]);
    pods += alone.pods;
    slices += alone.slices;
    if (!chief_ || !leader_[child.index()]) continue;
    const Tally with = rounded(child, with_[child.index()]);
    const std::int64_t fewer_pods = alone.pods - with.pods, fewer_slices = alone.slices - with.slices;
    if (less.pods < 0 || fewer_pods < less.pods) less.pods = fewer_pods;
    if (less.slices < 0 || fewer_slices < less.slices) less.slices = fewer_slices;
  }
  alone_[id.index()] = {saturated(pods), saturated(slices)};
  if (scored()) scores_[id.index()] = score;
  if (chief_) {
    leader_[id.index()] = less.pods >= 0;
    with_[id.index()] = less.pods < 0 ? Tally() : Tally{saturated(pods - less.pods), saturated(slices - less.slices)};
  }
  if (domain.level == view_->leaf_level()) {
    on_nodes_[id.index()] = {alone_[id.index()].pods, chief_ ? with_[id.index()].pods : 0, less.pods >= 0};
    limit(id);
  } else if (domain.level == slice_level_) {
    set_slices(id);
  } else if (slice_size_ > 1 && domain.level < slice_level_) {
    rests_[id.index()] = rest_of(domain.children, less.slices);
  }
}

// Claims on a group do not say which of its nodes they use: what is free of the whole group is a limit too.
void Counts::limit(DomainId id) {
  const View::Domain& domain = (*view_)[id];
  const LeafDomain* leaf = domain.gone ? nullptr : &ledger_.leaves[domain.leaf_domain];
  const OnNodes& on_nodes = on_nodes_[id.index()];
  alone_[id.index()] = {leaf ? std::min(on_nodes.alone, fitting(*leaf, worker_, nullptr)) : 0, 0};
  if (chief_) {
    const bool leads = leaf && on_nodes.leader && fitting(*leaf, *chief_, nullptr) > 0;
    with_[id.index()] = {leads ? std::min(on_nodes.with, fitting(*leaf, worker_, chief_.get())) : 0, 0};
    leader_[id.index()] = leads;
  }
  if (domain.level == slice_level_) set_slices(id);
}

// `less_slices`: the fewest slices that a child loses to the leader. With the leader in such a child, a smaller slice
// goes to the same child or to another one.
Counts::Rest Counts::rest_of(std::span<const DomainId> children, std::int64_t less_slices) const {
  Rest rest;
  std::int32_t second = 0;
  DomainId first;
  for (DomainId child : children) {
    const std::int32_t alone = rests_[child.index()].alone;
    if (first.valid() && alone <= rest.alone) {
      second = std::max(second, alone);
      continue;
    }
    second = rest.alone;
    rest.alone = alone;
    first = child;
  }
  if (!chief_) return rest;
  for (DomainId child : children) {
    if (!leader_[child.index()] || alone_[child.index()].slices - with_[child.index()].slices != less_slices) continue;
    rest.with = std::max({rest.with, rests_[child.index()].with, child == first ? second : rest.alone});
  }
  return rest;
}

void Counts::count_below(DomainId id) {
  const View::Domain& domain = (*view_)[id];
  if (domain.level == view_->bottom_level()) {
    count_leaf(id);
    return;
  }
  for (DomainId child : domain.children) count_below(child);
  sum_up(id);
}

void Counts::count_all() {
  for (DomainId root : view_->roots()) count_below(root);
}

// Adds it to the list unless it is in one already in this round.
void Counts::want(DomainId id, std::vector<DomainId>& list) {
  if (!id.valid() || stamps_[id.index()] == round_) return;
  stamps_[id.index()] = round_;
  list.push_back(id);
}

// Bottom up; each parent is updated once, however many of its children changed.
void Counts::count_changed(std::span<const DomainId> changed) {
  if (++round_ == 0) {
    std::fill(stamps_.begin(), stamps_.end(), 0u);
    round_ = 1;
  }
  const std::size_t bottom = view_->bottom_level();
  front_.clear();
  for (DomainId id : changed) {
    if ((*view_)[id].level == bottom) want(id, front_);
  }
  for (DomainId id : front_) count_leaf(id);
  for (bool first = true; first || !front_.empty(); first = false) {
    next_.clear();
    for (DomainId id : front_) want((*view_)[id].parent, next_);
    for (DomainId id : next_) sum_up(id);
    if (first && view_->nodes_below()) limit_changed(changed);
    std::swap(front_, next_);
  }
}

// Leaves whose own use changed, while their nodes did not.
void Counts::limit_changed(std::span<const DomainId> changed) {
  const std::size_t before = next_.size();
  for (DomainId id : changed) {
    if ((*view_)[id].level == view_->leaf_level()) want(id, next_);
  }
  for (std::size_t i = before; i < next_.size(); ++i) limit(next_[i]);
}

void Counts::refresh() {
  std::span<const DomainId> changed;
  const bool anew = !counted_ || version_ != view_->version() || !view_->read(seen_, changed);
  if (anew) {
    alone_.clear();
    with_.clear();
    leader_.clear();
    rests_.clear();
    on_nodes_.clear();
    scores_.clear();
    stamps_.clear();
  }
  if (alone_.size() != view_->size()) {
    alone_.resize(view_->size());
    stamps_.resize(view_->size());
    if (slice_size_ > 1) rests_.resize(view_->size());
    if (view_->nodes_below()) on_nodes_.resize(view_->size());
    if (!worker_.filter.constraints().preferred_terms.empty()) scores_.resize(view_->size());
    if (chief_) {
      with_.resize(view_->size());
      leader_.resize(view_->size());
    }
  }
  if (anew) {
    count_all();
  } else {
    count_changed(changed);
  }
  counted_ = true;
  version_ = view_->version();
  seen_ = view_->log_end();
}

bool Counts::as_counted_afresh() {
  refresh();
  const auto alone = alone_, with = with_;
  const auto leader = leader_;
  const auto rests = rests_;
  const auto on_nodes = on_nodes_;
  const auto scores = scores_;
  counted_ = false;
  refresh();
  for (std::size_t i = 0; i < alone.size(); ++i) {
    if (reachable(DomainId(i)) &&
        (alone[i] != alone_[i] || (chief_ && (with[i] != with_[i] || leader[i] != leader_[i])) ||
         (slice_size_ > 1 && rests[i] != rests_[i]) || (view_->nodes_below() && on_nodes[i] != on_nodes_[i]) ||
         (scored() && scores[i] != scores_[i])))
      return false;
  }
  return true;
}

// Only removed leaves and nodes are in no list of children.
bool Counts::reachable(DomainId id) const { return !(*view_)[id].gone; }

std::int32_t Counts::total(std::int32_t tail) const {
  std::int64_t slices = 0, less = -1;
  for (DomainId root : view_->roots()) {
    slices += alone_[root.index()].slices;
    if (!chief_ || !leader_[root.index()]) continue;
    const std::int64_t fewer = alone_[root.index()].slices - with_[root.index()].slices;
    if (less < 0 || fewer < less) less = fewer;
  }
  if (chief_ && less < 0) return -1;
  const std::int32_t whole = saturated(chief_ ? slices - less : slices);
  if (tail == 0) return whole;
  const Rest rest = rest_of(view_->roots(), less);
  return (chief_ ? rest.with : rest.alone) >= tail ? whole : whole - 1;
}

struct Counts::Exclusion::Saved {
  DomainId id;
  Tally alone, with;
  Rest rest;
  bool leader;
};

void Counts::Exclusion::save(DomainId id) {
  const std::size_t i = id.index();
  saved_.push_back({id, counts_.alone_[i], counts_.chief_ ? counts_.with_[i] : Tally(),
                    counts_.rests_.empty() ? Rest() : counts_.rests_[i], counts_.chief_ && counts_.leader_[i] != 0});
}

Counts::Exclusion::Exclusion(Counts& counts, const std::vector<DomainId>& domains) : counts_(counts) {
  const View& view = *counts.view_;
  std::vector<std::vector<DomainId>> above(view.leaf_level() + 1);  // by level, to be summed up again
  for (DomainId id : domains) {
    save(id);
    counts.alone_[id.index()] = {};
    if (counts.chief_) {
      counts.with_[id.index()] = {};
      counts.leader_[id.index()] = 0;
    }
    if (!counts.rests_.empty()) counts.rests_[id.index()] = {};
    for (DomainId parent = view[id].parent; parent.valid(); parent = view[parent].parent)
      above[view[parent].level].push_back(parent);
  }
  for (auto level = above.rbegin(); level != above.rend(); ++level) {
    std::sort(level->begin(), level->end());
    level->erase(std::unique(level->begin(), level->end()), level->end());
    for (DomainId id : *level) {
      if (std::find(domains.begin(), domains.end(), id) != domains.end()) continue;
      save(id);
      counts.sum_up(id);
    }
  }
}

Counts::Exclusion::~Exclusion() {
  for (auto saved = saved_.rbegin(); saved != saved_.rend(); ++saved) {
    const std::size_t i = saved->id.index();
    counts_.alone_[i] = saved->alone;
    if (counts_.chief_) {
      counts_.with_[i] = saved->with;
      counts_.leader_[i] = saved->leader;
    }
    if (!counts_.rests_.empty()) counts_.rests_[i] = saved->rest;
  }
}

Counts& CountCache::get(const CountAsk& ask) {
  const auto found = std::find_if(counts_.begin(), counts_.end(), [&](const auto& each) { return each->answers(ask); });
  if (found != counts_.end()) {
    std::rotate(counts_.begin(), found, found + 1);
  } else {
    counts_.insert(counts_.begin(), std::make_unique<Counts>(ledger_, ask));
  }
  counts_.front()->refresh();
  std::size_t cells = 0, kept = 0;
  while (kept < counts_.size() && kept < kMaxKinds && (kept == 0 || cells + counts_[kept]->cells() <= kMaxCells)) {
    cells += counts_[kept++]->cells();
  }
  counts_.resize(kept);
  return *counts_.front();
}

void CountCache::forget(FlavorId flavor) {
  std::erase_if(counts_, [&](const auto& each) { return each->flavor() == flavor; });
}

}  // namespace berth::engine::topology
