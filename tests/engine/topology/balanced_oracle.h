// Balanced placement according to KEP-2724, step by step and by trying every set, to compare with the engine's
// algorithm. It shares no code with the engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/topology/oracle.h"

namespace berth::engine {

struct BalancedAsk {
  int pods = 0, slice = 1;
  bool leader = false;
  std::size_t level = 0, slice_level = 0;
};

class BalancedOracle {
 public:
  using Path = std::vector<std::string>;
  using Shares = std::map<Path, std::pair<int, bool>>;  // pods, and whether the leader is there

  BalancedOracle(std::vector<OracleNode> nodes, BalancedAsk ask) : ask_(ask), slices_(ask.pods / ask.slice) {
    std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    leaf_level_ = nodes.empty() ? 0 : nodes.front().path.size() - 1;
    roots_ = grow(nodes, 0);
  }

  // The pods of each domain of the balanced level; nullopt: no balanced placement.
  std::optional<Shares> place() {
    if (ask_.level == ask_.slice_level && ask_.level < leaf_level_) return std::nullopt;  // there are no slices below
    int best = 0, best_count = 0;
    std::vector<Dom> chosen;
    for (const std::vector<Dom>& siblings : families()) {
      const auto greedy = fill(balanced_level(siblings));
      if (!greedy) continue;
      int floor = std::min({slices_ / greedy->count, greedy->chief, greedy->last});
      const int beside = std::min(floor, greedy->last_with);
      if (floor < std::max(best, 1)) continue;
      std::vector<Dom> pruned = prune(siblings, floor);
      auto fits = fill(pruned);
      if (!fits && ask_.leader && beside < floor && beside >= std::max(best, 1)) {
        floor = beside;
        pruned = prune(siblings, floor);
        fits = fill(pruned);
      }
      if (!fits) continue;
      if (floor == best && fits->count >= best_count) continue;
      best = floor;
      best_count = fits->count;
      chosen = pruned;
    }
    if (best == 0) return std::nullopt;
    if (ask_.level < ask_.slice_level) {
      std::stable_sort(chosen.begin(), chosen.end(), [](const Dom& a, const Dom& b) {
        if (a.leads != b.leads) return a.leads;
        if (a.slices_with != b.slices_with) return a.slices_with > b.slices_with;
        return entropy(a) > entropy(b) + 1e-6;
      });
      const auto set = optimal(chosen);
      if (!set) return std::nullopt;
      std::vector<Dom> kids;
      for (const Dom& each : *set) kids.insert(kids.end(), each.kids.begin(), each.kids.end());
      chosen = kids;
    }
    std::sort(chosen.begin(), chosen.end(), [](const Dom& a, const Dom& b) { return a.path < b.path; });
    return hand_out(chosen, best);
  }

  // Distributes the pods of a domain without leader to the leaves below it, level by level.
  std::map<Path, int> leaves(const Path& path, int pods) const {
    std::map<Path, int> out;
    spread(find(roots_, path), pods, out);
    return out;
  }

 private:
  struct Dom {
    Path path;
    int pods = 0, with = 0, slices = 0, slices_with = 0;
    bool leads = false;
    std::vector<Dom> kids;
    std::size_t level() const { return path.size() - 1; }
  };
  struct Greedy {
    int count = 0, chief = kMany, last = kMany, last_with = kMany;
  };
  static constexpr int kMany = 1'000'000;

  std::vector<Dom> grow(const std::vector<OracleNode>& nodes, std::size_t level) const {
    std::vector<Dom> out;
    for (std::size_t i = 0; i < nodes.size();) {
      std::vector<OracleNode> inside;
      for (const auto& node : nodes) {
        if (std::equal(node.path.begin(), node.path.begin() + static_cast<std::ptrdiff_t>(level) + 1,
                       nodes[i].path.begin()))
          inside.push_back(node);
      }
      Dom dom;
      dom.path.assign(nodes[i].path.begin(), nodes[i].path.begin() + static_cast<std::ptrdiff_t>(level) + 1);
      if (level == leaf_level_) {
        dom.pods = nodes[i].alone;
        dom.leads = ask_.leader && nodes[i].leader;
        dom.with = dom.leads ? nodes[i].beside : dom.pods;
        if (level == ask_.slice_level) set_slices(dom);
      } else {
        dom.kids = grow(inside, level + 1);
        count(dom);
      }
      out.push_back(dom);
      i += inside.size();
    }
    return out;
  }
  void set_slices(Dom& dom) const {
    dom.slices = dom.pods / ask_.slice;
    dom.slices_with = dom.with / ask_.slice;
  }
  void count(Dom& dom) const {
    dom.pods = dom.slices = dom.with = dom.slices_with = 0;
    dom.leads = false;
    int less = kMany, less_slices = kMany;
    for (const Dom& kid : dom.kids) {
      dom.pods += kid.pods;
      dom.slices += kid.slices;
      if (ask_.leader && !kid.leads) continue;
      dom.leads = dom.leads || kid.leads;
      less = std::min(less, kid.pods - kid.with);
      less_slices = std::min(less_slices, kid.slices - kid.slices_with);
    }
    if (less < kMany) {
      dom.with = dom.pods - less;
      dom.slices_with = dom.slices - less_slices;
    }
    if (dom.level() == ask_.slice_level) set_slices(dom);
  }

  static void collect(const std::vector<Dom>& doms, std::size_t level, std::vector<std::vector<Dom>>& out) {
    for (const Dom& dom : doms) {
      if (dom.level() == level) {
        out.push_back(dom.kids);
      } else {
        collect(dom.kids, level, out);
      }
    }
  }
  std::vector<std::vector<Dom>> families() const {
    if (ask_.level == 0) return {roots_};
    std::vector<std::vector<Dom>> out;
    collect(roots_, ask_.level - 1, out);
    return out;
  }
  std::vector<Dom> balanced_level(const std::vector<Dom>& siblings) const {
    if (ask_.level == ask_.slice_level) return siblings;
    std::vector<Dom> out;
    for (const Dom& dom : siblings) out.insert(out.end(), dom.kids.begin(), dom.kids.end());
    return out;
  }

  static void sort_for_leader(std::vector<Dom>& doms) {
    std::stable_sort(doms.begin(), doms.end(), [](const Dom& a, const Dom& b) {
      if (a.leads != b.leads) return a.leads;
      if (a.slices_with != b.slices_with) return a.slices_with > b.slices_with;
      if (a.with != b.with) return a.with < b.with;
      return a.path < b.path;
    });
  }
  std::optional<Greedy> fill(std::vector<Dom> doms) const {
    Greedy out;
    int missing = slices_;
    if (ask_.leader) {
      sort_for_leader(doms);
      if (doms.empty() || !doms.front().leads) return std::nullopt;
      out.count = 1;
      out.chief = doms.front().slices_with;
      missing -= out.chief;
      doms.erase(doms.begin());
    }
    std::stable_sort(doms.begin(), doms.end(), [](const Dom& a, const Dom& b) {
      if (a.slices != b.slices) return a.slices > b.slices;
      if (a.pods != b.pods) return a.pods < b.pods;
      return a.path < b.path;
    });
    for (const Dom& dom : doms) {
      if (missing <= 0 || dom.slices == 0) break;
      ++out.count;
      out.last = dom.slices;
      out.last_with = dom.slices_with;
      missing -= dom.slices;
    }
    return missing > 0 ? std::nullopt : std::optional(out);
  }

  void prune_one(Dom& dom, int floor) const {
    if (dom.slices < floor) {
      dom.pods = dom.with = dom.slices = dom.slices_with = 0;
      dom.leads = false;
    } else if (dom.leads && dom.slices_with < floor) {
      dom.with = dom.slices_with = 0;
      dom.leads = false;
    }
  }
  std::vector<Dom> prune(std::vector<Dom> siblings, int floor) const {
    for (Dom& dom : siblings) {
      for (Dom& kid : dom.kids) prune_one(kid, floor);
      if (!dom.kids.empty()) count(dom);
      prune_one(dom, floor);
    }
    return siblings;
  }

  static double entropy(const Dom& dom) {
    double sum = 0, out = 0;
    for (const Dom& kid : dom.kids) sum += kid.pods;
    for (const Dom& kid : dom.kids) {
      if (kid.pods > 0) out -= kid.pods / sum * std::log2(kid.pods / sum);
    }
    return out;
  }

  // Every way to choose this many of the domains, in their order, each with or without the leader.
  struct Way {
    std::vector<std::pair<std::size_t, bool>> picks;
    int pods = 0;
    bool leader = false;
  };
  void ways(const std::vector<Dom>& doms, std::size_t from, std::size_t size, const Way& way,
            std::vector<Way>& out) const {
    const bool enough = way.pods >= ask_.pods && (way.leader || !ask_.leader);
    if (way.picks.size() == size) {
      if (enough) out.push_back(way);
      return;
    }
    if (enough) return;
    for (std::size_t i = from; i < doms.size(); ++i) {
      for (const bool leads : {false, true}) {
        if (leads ? way.leader || !doms[i].leads : doms[i].slices == 0) continue;
        Way next = way;
        next.picks.emplace_back(i, leads);
        next.pods += leads ? doms[i].with : doms[i].pods;
        next.leader = next.leader || leads;
        ways(doms, i + 1, size, next, out);
      }
    }
  }
  std::optional<std::vector<Dom>> optimal(const std::vector<Dom>& doms) const {
    const auto greedy = fill(doms);
    if (!greedy) return std::nullopt;
    std::vector<Way> all;
    ways(doms, 0, static_cast<std::size_t>(greedy->count), {}, all);
    if (all.empty()) return std::nullopt;
    const Way& best = *std::min_element(all.begin(), all.end(), [](const Way& a, const Way& b) {
      if (a.pods != b.pods) return a.pods < b.pods;
      return std::lexicographical_compare(a.picks.rbegin(), a.picks.rend(), b.picks.rbegin(), b.picks.rend());
    });
    std::vector<Dom> out;
    for (const auto& [index, leads] : best.picks) out.push_back(doms[index]);
    return out;
  }

  std::optional<Shares> hand_out(const std::vector<Dom>& doms, int floor) const {
    auto set = optimal(doms);
    if (!set) return std::nullopt;
    int extra = slices_ - static_cast<int>(set->size()) * floor;
    if (extra < 0) return std::nullopt;
    sort_for_leader(*set);
    Shares out;
    bool missing = ask_.leader;
    for (const Dom& dom : *set) {
      const int more = std::min(extra, (missing ? dom.slices_with : dom.slices) - floor);
      out[dom.path] = {(floor + more) * ask_.slice, missing};
      extra -= more;
      missing = false;
    }
    if (extra > 0) return std::nullopt;
    return out;
  }

  static const Dom& find(const std::vector<Dom>& doms, const Path& path) {
    for (const Dom& dom : doms) {
      if (!std::equal(dom.path.begin(), dom.path.end(), path.begin())) continue;
      return dom.path == path ? dom : find(dom.kids, path);
    }
    throw std::logic_error("no such domain");
  }
  // At and above the slice level, domains with the largest capacity first; below it, those with the smallest. As soon
  // as one domain can hold the rest, the tightest such domain gets it.
  void spread(const Dom& dom, int pods, std::map<Path, int>& out) const {
    if (dom.kids.empty()) {
      out[dom.path] = pods;
      return;
    }
    const bool below = dom.level() + 1 > ask_.slice_level;
    const int unit = below ? 1 : ask_.slice;
    auto capacity = [&](const Dom* kid) { return below ? kid->pods : kid->slices; };
    std::vector<const Dom*> kids;
    for (const Dom& kid : dom.kids) kids.push_back(&kid);
    std::stable_sort(kids.begin(), kids.end(), [&](const Dom* a, const Dom* b) {
      if (!below && a->slices != b->slices) return a->slices > b->slices;
      return a->pods < b->pods;
    });
    int missing = pods / unit;
    while (missing > 0 && !kids.empty()) {
      auto next = kids.begin();
      for (auto it = kids.begin(); it != kids.end(); ++it) {
        if (capacity(*it) >= missing && (capacity(*next) < missing || capacity(*it) < capacity(*next))) next = it;
      }
      const int given = std::min(missing, capacity(*next));
      if (given > 0) spread(**next, given * unit, out);
      missing -= given;
      kids.erase(next);
    }
  }

  BalancedAsk ask_;
  int slices_ = 0;
  std::size_t leaf_level_ = 0;
  std::vector<Dom> roots_;
};

}  // namespace berth::engine
