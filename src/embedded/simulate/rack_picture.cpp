#include "embedded/simulate/rack_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "api/core/node.h"
#include "api/core/pod_phase.h"
#include "api/kueue/pod_placement.h"

namespace berth::simulate {
namespace {

constexpr std::size_t kCellsPerLine = 64;
constexpr std::size_t kColumns = 100;
constexpr std::size_t kMaxLegendLines = 26;
constexpr int kColours[] = {39, 208, 42,  170, 220,
                            75, 203, 112, 141, 216};  // of 256, readable on dark and light backgrounds

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

struct Cell {
  std::string holder;  // the holder with the most pods on the node; empty: free
  bool full = false, failed = false, closed = false;
};
using Rack = std::map<std::string, Cell, NaturalOrder>;  // by node

struct Held {
  std::size_t pods = 0;
  std::map<std::string, bool> nodes;
  std::map<std::string, bool, NaturalOrder> racks;
};

bool holds_node(const Json& pod) { return !string_at(pod, {"spec", "nodeName"}).empty() && !api::pod_ended(pod); }

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string holder_of(const Json& pod) {
  std::string name(string_at(pod, {"metadata", "labels", "batch.kubernetes.io/job-name"}));
  const Json* owner = name.empty() ? api::controller_of(pod) : nullptr;
  if (owner != nullptr) name = string_at(*owner, {"name"});
  if (name.empty()) name = string_at(pod, {"metadata", "name"});
  return std::string(string_at(pod, {"metadata", "namespace"})) + "/" + name;
}

std::string shortened(std::string text, std::size_t width) {
  if (text.size() > width) text = text.substr(0, width - 3) + "...";
  return text;
}

// The number at the end of a node's name.
std::optional<std::size_t> number_of(const std::string& name) {
  std::size_t begin = name.size();
  while (begin > 0 && digit(name[begin - 1])) --begin;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), number);
  if (error != std::errc{} || number == 0) return std::nullopt;
  return number;
}

class Picture {
 public:
  Picture(const std::vector<Json>& nodes, const std::vector<Json>& pods, const PictureOptions& options)
      : options_(options) {
    for (auto& holder : known_holders(pods)) {
      const auto at = letters_.size();
      letters_.emplace(std::move(holder), at);
    }
    std::map<std::string, std::vector<const Json*>> on;
    for (const auto& pod : pods) {
      if (holds_node(pod)) on[std::string(string_at(pod, {"spec", "nodeName"}))].push_back(&pod);
    }
    for (const auto& node : nodes) add(api::decode_node(node), on);
    for (const auto& [name, rack] : racks_) widest_ = std::max(widest_, std::min(kCellsPerLine, cells(rack).size()));
  }

  std::string text() const {
    std::size_t width = 4;
    for (const auto& [name, rack] : racks_) width = std::max(width, std::min<std::size_t>(name.size(), 24));
    std::string out;
    std::size_t lines = 0;
    for (const auto& [name, rack] : racks_) {
      if (lines++ == kMaxRackLines) {
        out += fmt::format("... and {} more\n", racks_.size() - kMaxRackLines);
        break;
      }
      out += line(name, rack, width);
    }
    return out + legend();
  }

 private:
  std::vector<std::string> known_holders(const std::vector<Json>& pods) const {
    std::vector<std::string> all = options_.holders;
    for (auto& holder : holders_of(pods)) {
      if (std::find(all.begin(), all.end(), holder) == all.end()) all.push_back(std::move(holder));
    }
    return all;
  }

  void add(const api::Node& node, const std::map<std::string, std::vector<const Json*>>& on) {
    const auto label = node.labels.find(options_.rack_label);
    const std::string rack = label == node.labels.end() ? "-" : label->second;
    Cell cell;
    cell.failed = !node.ready.value_or(false);
    cell.closed =
        node.unschedulable || std::any_of(node.taints.begin(), node.taints.end(),
                                          [](const api::Taint& taint) { return taint.effect != "PreferNoSchedule"; });
    api::ResourceList used;
    std::map<std::string, std::int64_t> pods_of;
    if (const auto pods = on.find(node.name); pods != on.end()) {
      for (const Json* pod : pods->second) {
        const std::string holder = holder_of(*pod);
        ++pods_of[holder];
        Held& held = held_[holder];
        ++held.pods;
        held.nodes[node.name] = true;
        held.racks[rack] = true;
        for (const auto& [resource, quantity] : api::kueue::decode_pod_placement(*pod).requests)
          used[resource] = used[resource] + quantity;
      }
    }
    std::int64_t most = 0;
    for (const auto& [holder, count] : pods_of) {
      if (count > most) cell.holder = holder;
      most = std::max(most, count);
    }
    for (const auto& [resource, quantity] : used) {
      const auto there = node.allocatable.find(resource);
      cell.full = cell.full || there == node.allocatable.end() || there->second <= quantity;
    }
    racks_[rack][node.name] = std::move(cell);
  }

  std::string coloured(std::string text, int colour, bool strong) const {
    if (!options_.colour) return text;
    return fmt::format("\033[{}38;5;{}m{}\033[0m", strong ? "1;" : "", colour, text);
  }

  std::string letter(const std::string& holder, bool full) const {
    const auto number = letters_.at(holder);
    const char capital = number < 26 ? static_cast<char>('A' + number) : '#';
    const char shown = full ? capital : static_cast<char>(std::tolower(static_cast<unsigned char>(capital)));
    return coloured(std::string(1, shown), kColours[number % std::size(kColours)], full);
  }

  std::string drawn(const Cell& cell) const {
    if (cell.failed) return coloured("!", 196, true);
    if (!cell.holder.empty()) return letter(cell.holder, cell.full);
    return coloured(cell.closed ? "-" : ".", 244, false);
  }

  std::vector<std::string> cells(const Rack& rack) const {
    std::vector<std::string> cells;
    for (const auto& [node, cell] : rack) {
      if (const auto number = number_of(node); number && *number <= kCellsPerLine) {
        while (cells.size() + 1 < *number) cells.push_back(coloured("_", 244, false));
      }
      cells.push_back(drawn(cell));
    }
    return cells;
  }

  std::string line(const std::string& name, const Rack& rack, std::size_t width) const {
    const auto all = cells(rack);
    const auto used =
        std::count_if(rack.begin(), rack.end(), [](const auto& node) { return !node.second.holder.empty(); });
    std::string out;
    for (std::size_t begin = 0; begin < all.size(); begin += kCellsPerLine) {
      const std::size_t end = std::min(all.size(), begin + kCellsPerLine);
      out += fmt::format("{:<{}}  ", begin == 0 ? shortened(name, 24) : std::string(), width);
      for (std::size_t i = begin; i < end; ++i) out += all[i];
      if (end == all.size())
        out += std::string(widest_ - (end - begin), ' ') + fmt::format("  {}/{}", used, rack.size());
      out += "\n";
    }
    return out;
  }

  std::string legend() const {
    std::string out;
    std::vector<std::pair<std::size_t, std::string>> order;
    for (const auto& [holder, held] : held_) order.emplace_back(letters_.at(holder), holder);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == kMaxLegendLines) return out + fmt::format("... and {} more\n", order.size() - i);
      const std::string& holder = order[i].second;
      const Held& held = held_.at(holder);
      std::string racks;
      for (const auto& [rack, there] : held.racks) racks += (racks.empty() ? "" : ", ") + rack;
      const std::string text = fmt::format("{}: {} on {} of {}", holder, counted(held.pods, "pod"),
                                           counted(held.nodes.size(), "node"), racks);
      out += letter(holder, true) + " " + shortened(text, kColumns - 2) + "\n";
    }
    return out;
  }

  const PictureOptions& options_;
  std::map<std::string, std::size_t> letters_;  // by holder; 0 is A
  std::map<std::string, Rack, NaturalOrder> racks_;
  std::map<std::string, Held> held_;
  std::size_t widest_ = 0;  // cells of the longest line
};

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    std::size_t end_a = i, end_b = j;
    while (end_a < a.size() && digit(a[end_a])) ++end_a;
    while (end_b < b.size() && digit(b[end_b])) ++end_b;
    auto x = a.substr(i, end_a - i), y = b.substr(j, end_b - j);
    while (x.size() > 1 && x.front() == '0') x.remove_prefix(1);
    while (y.size() > 1 && y.front() == '0') y.remove_prefix(1);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    i = end_a, j = end_b;
  }
  if ((a.size() - i == 0) != (b.size() - j == 0)) return a.size() - i == 0;
  return a < b;  // "n01" and "n1" are naturally equal; order them anyway
}

std::vector<std::string> holders_of(const std::vector<Json>& pods) {
  std::map<std::string, std::string> oldest;  // holder -> creation; RFC 3339 times compare as text
  for (const auto& pod : pods) {
    if (!holds_node(pod)) continue;
    const std::string created(string_at(pod, {"metadata", "creationTimestamp"}));
    const auto [it, is_new] = oldest.emplace(holder_of(pod), created);
    if (!is_new) it->second = std::min(it->second, created);
  }
  std::vector<std::pair<std::string, std::string>> order;
  for (auto& [holder, created] : oldest) order.emplace_back(created, holder);
  std::sort(order.begin(), order.end());
  std::vector<std::string> holders;
  for (auto& [created, holder] : order) holders.push_back(std::move(holder));
  return holders;
}

std::string rack_label_of(const std::vector<Json>& topologies) {
  const Json* first = nullptr;
  for (const auto& topology : topologies) {
    if (array_at(topology, {"spec", "levels"}).size() < 2) continue;
    if (first == nullptr || string_at(topology, {"metadata", "name"}) < string_at(*first, {"metadata", "name"}))
      first = &topology;
  }
  if (first == nullptr) return PictureOptions().rack_label;
  const auto& levels = array_at(*first, {"spec", "levels"});
  const bool hosts = string_at(levels.back(), {"nodeLabel"}) == "kubernetes.io/hostname";
  return std::string(string_at(levels[levels.size() - (hosts ? 2 : 1)], {"nodeLabel"}));
}

std::string rack_picture(const std::vector<Json>& nodes, const std::vector<Json>& pods, const PictureOptions& options) {
  return Picture(nodes, pods, options).text();
}

}  // namespace berth::simulate
