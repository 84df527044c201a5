// A flavor's tree of domains.
#include "engine/topology/view.h"

#include "api/core/node_labels.h"

#include <algorithm>

namespace berth::engine::topology {

namespace {
constexpr std::size_t kShortLog = 1024;  // the log always has space for this many entries
constexpr std::size_t kWorn = 1024;      // a tree with fewer removed domains than this is never rebuilt
}  // namespace

View::View(StringPool& strings, FlavorId flavor, const api::kueue::ResourceFlavor& spec,
           const api::kueue::Topology& topology, bool every_node)
    : strings_(strings),
      flavor_(flavor),
      topology_(topology.meta.name),
      levels_(topology.levels),
      tolerations_(spec.tolerations),
      leaves_are_nodes_(!topology.levels.empty() && topology.levels.back() == api::kHostnameLabel),
      nodes_below_(every_node && !leaves_are_nodes_) {
  for (const std::string& level : levels_) level_keys_.push_back(strings_.acquire(level));
  for (const auto& [key, value] : spec.node_labels) {
    node_labels_.push_back({strings_.acquire(key), strings_.acquire(value)});
  }
}

View::View(const View& other, StringPool& strings)
    : relieved(other.relieved),
      strings_(strings),
      flavor_(other.flavor_),
      topology_(other.topology_),
      levels_(other.levels_),
      level_keys_(other.level_keys_),
      node_labels_(other.node_labels_),
      tolerations_(other.tolerations_),
      leaves_are_nodes_(other.leaves_are_nodes_),
      nodes_below_(other.nodes_below_),
      domains_(other.domains_),
      roots_(other.roots_),
      leaves_(other.leaves_),
      nodes_(other.nodes_),
      gone_(other.gone_),
      log_(other.log_),
      log_start_(other.log_start_),
      version_(other.version_) {}

View::~View() {
  clear();
  for (StringId key : level_keys_) strings_.release(key);
  for (const Label& label : node_labels_) {
    strings_.release(label.key);
    strings_.release(label.value);
  }
}

int View::find_level(std::string_view label) const {
  const auto it = std::find(levels_.begin(), levels_.end(), label);
  return it == levels_.end() ? -1 : static_cast<int>(it - levels_.begin());
}

DomainId View::ancestor(DomainId id, std::size_t level) const {
  while (domains_[id.index()].level > level) id = domains_[id.index()].parent;
  return id;
}

bool View::before(DomainId a, DomainId b) const {
  while ((*this)[a].level > (*this)[b].level) a = (*this)[a].parent;
  while ((*this)[b].level > (*this)[a].level) b = (*this)[b].parent;
  while ((*this)[a].parent != (*this)[b].parent) {
    a = (*this)[a].parent;
    b = (*this)[b].parent;
  }
  return value(a) < value(b);
}

std::vector<std::string> View::values(DomainId id) const {
  std::vector<std::string> path((*this)[id].level + 1u);
  for (std::size_t i = path.size(); i-- > 0; id = (*this)[id].parent) path[i] = value(id);
  return path;
}

// The child with this value; if there is none, `position` is where it belongs.
DomainId View::child(std::span<const DomainId> siblings, StringId value, std::size_t& position) const {
  const std::string& text = strings_[value];
  const auto it =
      std::lower_bound(siblings.begin(), siblings.end(), text,
                       [&](DomainId each, const std::string& wanted) { return this->value(each) < wanted; });
  position = static_cast<std::size_t>(it - siblings.begin());
  return it != siblings.end() && (*this)[*it].value == value ? *it : DomainId();
}

std::span<const DomainId> View::below(DomainId parent) const {
  return parent.valid() ? std::span<const DomainId>((*this)[parent].children) : roots();
}

DomainId View::find(std::span<const StringId> path) const {
  DomainId at;
  for (StringId value : path) {
    std::size_t position = 0;
    at = child(below(at), value, position);
    if (!at.valid()) return at;
  }
  return at;
}

DomainId View::find_or_insert(DomainId parent, StringId value) {
  std::size_t position = 0;
  DomainId id = child(below(parent), value, position);
  if (id.valid()) return id;
  id = DomainId(domains_.size());
  const std::size_t level = parent.valid() ? (*this)[parent].level + 1u : 0;
  strings_.acquire_again(value);
  domains_.push_back({parent, value, LeafDomainId(), static_cast<std::uint8_t>(level), false, {}});
  std::vector<DomainId>& siblings = parent.valid() ? domains_[parent.index()].children : roots_;
  siblings.insert(siblings.begin() + static_cast<std::ptrdiff_t>(position), id);
  return id;
}

DomainId View::insert(std::span<const StringId> path, LeafDomainId leaf_domain) {
  DomainId leaf;
  for (StringId value : path) leaf = find_or_insert(leaf, value);
  domains_[leaf.index()].leaf_domain = leaf_domain;
  ++leaves_;
  touch(leaf);
  return leaf;
}

DomainId View::insert_node(DomainId leaf, StringId host, LeafDomainId node) {
  const DomainId id = find_or_insert(leaf, host);
  domains_[id.index()].leaf_domain = node;
  ++nodes_;
  touch(id);
  return id;
}

void View::remove(DomainId id) {
  Domain& domain = domains_[id.index()];
  std::vector<DomainId>& siblings = domain.parent.valid() ? domains_[domain.parent.index()].children : roots_;
  std::size_t position = 0;
  child(siblings, domain.value, position);
  siblings.erase(siblings.begin() + static_cast<std::ptrdiff_t>(position));
  domain.gone = true;
  domain.leaf_domain = LeafDomainId();
  --(domain.level == leaf_level() ? leaves_ : nodes_);
  ++gone_;
  touch(id);
}

bool View::worn() const { return gone_ > kWorn + leaves_ + nodes_; }

void View::clear() {
  for (const Domain& domain : domains_) strings_.release(domain.value);
  domains_.clear();
  roots_.clear();
  leaves_ = nodes_ = gone_ = 0;
  log_start_ = log_end();
  log_.clear();
  ++version_;
}

void View::touch(DomainId id) {
  if (log_.size() >= kShortLog + 2 * domains_.size()) {
    const std::size_t half = log_.size() / 2;
    log_.erase(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(half));
    log_start_ += half;
  }
  log_.push_back(id);
}

bool View::read(std::uint64_t position, std::span<const DomainId>& changed) const {
  if (position < log_start_) return false;
  changed = std::span(log_).subspan(static_cast<std::size_t>(position - log_start_));
  return changed.size() <= kShortLog / 8 + (leaves_ + nodes_) / 4;
}

}  // namespace berth::engine::topology
