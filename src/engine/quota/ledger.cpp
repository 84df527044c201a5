#include "engine/quota/ledger.h"

#include <algorithm>

#include "base/assert.h"

namespace berth::engine {

const Ledger::Cell Ledger::kNoCell{};
const Ledger::Cell Ledger::kUnboundedCell{Quota{Amount::unlimited()}, Amount::unlimited(), Amount(), Amount()};

Ledger::Cell& Ledger::grow_cell(QuotaNodeId id, FlavorResourceId fr) {
  auto& cells = at(id).cells;
  if (cells.size() <= fr.index()) cells.resize(fr.index() + 1, unlisted(at(id).unbounded));
  return cells[fr.index()];
}

// --- Numbers.

Amount Ledger::local_available(QuotaNodeId node, FlavorResourceId id) const {
  const Cell& c = cell(node, id);
  return max(Amount(), c.local - c.usage);
}

Amount Ledger::raw_available(QuotaNodeId node, FlavorResourceId id) const {
  const Cell& c = cell(node, id);
  QuotaNodeId up = at(node).up;
  if (!up.valid()) return c.subtree - c.usage;
  Amount from_parent = raw_available(up, id);
  if (!c.quota.borrowing_limit.is_unlimited()) {
    Amount stored = c.subtree - c.local;
    Amount used = max(Amount(), c.usage - c.local);
    from_parent = min(from_parent, stored - used + c.quota.borrowing_limit);
  }
  return max(Amount(), c.local - c.usage) + from_parent;
}

Amount Ledger::available(QuotaNodeId node, FlavorResourceId id) const {
  Amount amount = raw_available(node, id);
  return at(node).cluster_queue ? max(Amount(), amount) : amount;
}

Amount Ledger::potential_available(QuotaNodeId node, FlavorResourceId id) const {
  const Cell& c = cell(node, id);
  QuotaNodeId up = at(node).up;
  if (!up.valid()) return c.subtree;
  Amount amount = c.local + potential_available(up, id);
  if (c.quota.borrowing_limit.is_unlimited()) return amount;
  return min(amount, c.subtree + c.quota.borrowing_limit);
}

Amount Ledger::borrowed(QuotaNodeId node, FlavorResourceId id) const {
  const Cell& c = cell(node, id);
  return at(node).up.valid() ? max(Amount(), c.usage - c.subtree) : Amount();
}

bool Ledger::borrowing_with(QuotaNodeId node, FlavorResourceId id, Amount more) const {
  const Cell& c = cell(node, id);
  return c.usage + more > c.subtree;
}

bool Ledger::fits(QuotaNodeId cluster_queue, std::span<const FlavorResourceAmount> usage) const {
  return std::all_of(usage.begin(), usage.end(), [&](const FlavorResourceAmount& each) {
    return each.amount <= available(cluster_queue, each.id);
  });
}

bool Ledger::fits_counted(QuotaNodeId cluster_queue, std::span<const FlavorResourceAmount> usage) const {
  return std::all_of(usage.begin(), usage.end(), [&](const FlavorResourceAmount& each) {
    return each.amount.is_zero() || raw_available(cluster_queue, each.id) >= Amount();
  });
}

QuotaNodeId Ledger::topmost_borrower(QuotaNodeId node, FlavorResourceId id) const {
  QuotaNodeId top;
  for (; node.valid(); node = at(node).up) {
    const Cell& c = cell(node, id);
    if (c.usage > c.subtree) top = node;
    if (c.usage <= c.local) break;
  }
  return top;
}

Amount Ledger::rise(QuotaNodeId node, QuotaNodeId ancestor, FlavorResourceId id, Amount amount) const {
  for (; node != ancestor; node = at(node).up) {
    const Amount spare = local_available(node, id);
    if (amount <= spare) return {};
    amount -= spare;
  }
  return amount;
}

Amount Ledger::fall(QuotaNodeId node, QuotaNodeId ancestor, FlavorResourceId id, Amount amount) const {
  for (; node != ancestor; node = at(node).up) {
    const Cell& c = cell(node, id);
    const Amount in_parent = c.usage - c.local;
    if (in_parent <= Amount()) return {};
    amount = min(amount, in_parent);
  }
  return amount;
}

BorrowLevel Ledger::lowest_subtree_that_fits(QuotaNodeId node, FlavorResourceId id, Amount more) const {
  bool has_parent = at(node).up.valid();
  if (!has_parent || !borrowing_with(node, id, more)) return {0, has_parent};
  while (true) {
    more -= local_available(node, id);
    node = at(node).up;
    bool top = !at(node).up.valid();
    if (top || !borrowing_with(node, id, more)) return {at(node).height, !top};
  }
}

// --- Usage.

void Ledger::set_usage(QuotaNodeId node, FlavorResourceId id, Amount usage) {
  Cell& c = grow_cell(node, id);
  if (open_trials_ > 0) journal_.push_back({node, id, c.usage, WorkloadId()});
  c.usage = usage;
}

void Ledger::add(QuotaNodeId start, FlavorResourceId id, Amount amount) {
  bool saturated = false;
  for (QuotaNodeId node = start; node.valid();) {
    Amount spare = local_available(node, id);
    Amount usage = cell(node, id).usage + amount;
    saturated = saturated || usage.is_unlimited();
    set_usage(node, id, usage);
    if (amount <= spare) break;
    amount -= spare;
    node = at(node).up;
  }
  if (saturated) recount(start, id);
}

QuotaNodeId Ledger::subtract(QuotaNodeId start, FlavorResourceId id, Amount amount) {
  bool saturated = false;
  QuotaNodeId top = start;
  for (QuotaNodeId node = start; node.valid();) {
    const Cell& c = cell(node, id);
    Amount in_parent = c.usage - c.local;
    saturated = saturated || c.usage.is_unlimited();
    set_usage(node, id, c.usage - amount);
    top = node;
    if (in_parent <= Amount()) break;
    amount = min(amount, in_parent);
    node = at(node).up;
  }
  if (saturated) {
    recount(start, id);
    top = at(start).root.valid() ? at(start).root : start;
  }
  return top;
}

Amount Ledger::counted(QuotaNodeId cluster_queue, FlavorResourceId id) const {
  Amount sum;
  auto add_up = [&](const Usage& usage) {
    for (const auto& each : usage) {
      if (each.id == id) sum += each.amount;
    }
  };
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    const ClaimSlot& slot = claims_[i];
    if (slot.taken && !slot.out && slot.claim.cluster_queue == cluster_queue) add_up(slot.claim.usage);
  }
  for (const Held& held : holds_) {
    if (held.cluster_queue == cluster_queue) add_up(held.usage);
  }
  return sum;
}

// Subtracting from a saturated sum would be wrong, so it is recomputed from the claims. Slow and very rare: amounts
// near 2^63 are mistakes in a manifest.
void Ledger::recount(QuotaNodeId start, FlavorResourceId id) {
  QuotaNodeId root = at(start).root.valid() ? at(start).root : start;
  std::vector<QuotaNodeId> order{root};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (QuotaNodeId child : at(order[i]).children) {
      if (at(child).up == order[i]) order.push_back(child);
    }
  }
  std::for_each(order.rbegin(), order.rend(), [&](QuotaNodeId node) {
    Amount usage;
    if (at(node).cluster_queue) {
      usage = counted(node, id);
    } else {
      for (QuotaNodeId child : at(node).children) {
        const Cell& c = cell(child, id);
        if (at(child).up == node) usage += max(Amount(), c.usage - c.local);
      }
    }
    set_usage(node, id, usage);
  });
}

// --- Claims.

void tidy(Usage& usage) {
  std::erase_if(usage, [](const FlavorResourceAmount& each) { return each.amount.is_zero(); });
  std::sort(usage.begin(), usage.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  for (std::size_t i = 0; i + 1 < usage.size();) {
    if (usage[i].id != usage[i + 1].id) {
      ++i;
      continue;
    }
    usage[i].amount += usage[i + 1].amount;
    usage.erase(usage.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

void Ledger::take(WorkloadId workload, QuotaNodeId cluster_queue, Usage usage) {
  BERTH_INVARIANT(open_trials_ == 0);
  tidy(usage);
  claims_.grow(workload.index() + 1);
  ++at(cluster_queue).claims;  // before the old claim ends, so that the node is not dropped in between
  if (claim(workload) != nullptr) replace(workload, cluster_queue, usage);
  ClaimSlot& slot = claims_.change(workload.index());
  slot.claim = {cluster_queue, std::move(usage)};
  slot.taken = true;
  ++claim_count_;
  for (const auto& each : slot.claim.usage) add(cluster_queue, each.id, each.amount);
}

// Ends the claim that another one with this usage follows. Of what it uses as before, or more of, nothing gets free.
void Ledger::replace(WorkloadId workload, QuotaNodeId cluster_queue, const Usage& usage) {
  const Claim former = *claim(workload);
  const auto reliefs = static_cast<std::ptrdiff_t>(reliefs_.size());
  give_back(workload);
  if (former.cluster_queue != cluster_queue) return;
  const auto amount_in = [](const Usage& in, FlavorResourceId id) {
    const auto found = std::ranges::find(in, id, &FlavorResourceAmount::id);
    return found == in.end() ? Amount() : found->amount;
  };
  const auto stays = std::remove_if(reliefs_.begin() + reliefs, reliefs_.end(), [&](const Relief& relief) {
    return amount_in(usage, relief.id) >= amount_in(former.usage, relief.id);
  });
  reliefs_.erase(stays, reliefs_.end());
}

void Ledger::hand_over(WorkloadId from, WorkloadId to) {
  BERTH_INVARIANT(open_trials_ == 0 && claim(from) != nullptr && claim(to) == nullptr);
  if (claim(from) == nullptr || claim(to) != nullptr) return;
  claims_.grow(to.index() + 1);
  ClaimSlot& former = claims_.change(from.index());
  Claim claim = std::exchange(former.claim, {});
  former.taken = false;
  ClaimSlot& slot = claims_.change(to.index());
  slot.claim = std::move(claim);
  slot.taken = true;
}

void Ledger::give_back(WorkloadId workload) {
  BERTH_INVARIANT(open_trials_ == 0);
  if (claim(workload) == nullptr) return;
  ClaimSlot& slot = claims_.change(workload.index());
  slot.taken = false;
  --claim_count_;
  QuotaNodeId node = slot.claim.cluster_queue;
  --at(node).claims;
  for (const auto& each : slot.claim.usage) reliefs_.push_back({subtract(node, each.id, each.amount), each.id});
  slot.claim.usage.clear();
  drop_if_unused(node);
}

const Claim* Ledger::claim(WorkloadId workload) const {
  if (!workload.valid() || claims_.size() <= workload.index() || !claims_[workload.index()].taken) return nullptr;
  return &claims_[workload.index()].claim;
}

void Ledger::unpin(QuotaNodeId node) {
  --at(node).pins;
  drop_if_unused(node);
}

void Ledger::hold(QuotaNodeId cluster_queue, std::span<const FlavorResourceAmount> usage) {
  BERTH_INVARIANT(open_trials_ == 0);
  holds_.push_back({cluster_queue, Usage(usage.begin(), usage.end())});
  for (const auto& each : usage) add(cluster_queue, each.id, each.amount);
}

void Ledger::drop_holds() {
  while (!holds_.empty()) {
    Held held = std::move(holds_.back());
    holds_.pop_back();
    for (const auto& each : held.usage) subtract(held.cluster_queue, each.id, each.amount);
  }
}

// --- Trials.

Ledger::Trial::Trial(Ledger& ledger) : ledger_(ledger), mark_(ledger.journal_.size()) { ++ledger_.open_trials_; }

void Ledger::Trial::without(WorkloadId workload) {
  if (ledger_.claim(workload) == nullptr) return;
  if (ledger_.supposed_out(workload)) return;
  ClaimSlot& slot = ledger_.claims_.change(workload.index());
  slot.out = true;
  ledger_.journal_.push_back({QuotaNodeId(), FlavorResourceId(), Amount(), workload});
  for (const auto& each : slot.claim.usage) ledger_.subtract(slot.claim.cluster_queue, each.id, each.amount);
}

void Ledger::Trial::again(WorkloadId workload) {
  if (ledger_.claim(workload) == nullptr) return;
  if (!ledger_.supposed_out(workload)) return;
  ClaimSlot& slot = ledger_.claims_.change(workload.index());
  slot.out = false;
  ledger_.journal_.push_back({QuotaNodeId(), FlavorResourceId(), Amount(), workload});
  for (const auto& each : slot.claim.usage) ledger_.add(slot.claim.cluster_queue, each.id, each.amount);
}

void Ledger::Trial::with(QuotaNodeId cluster_queue, std::span<const FlavorResourceAmount> usage) {
  for (const auto& each : usage) ledger_.add(cluster_queue, each.id, each.amount);
}

void Ledger::Trial::without_holds() {
  for (const Held& held : ledger_.holds_) {
    for (const auto& each : held.usage) ledger_.subtract(held.cluster_queue, each.id, each.amount);
  }
}

void Ledger::Trial::roll_back() {
  if (mark_ == std::numeric_limits<std::size_t>::max()) return;
  auto& journal = ledger_.journal_;
  while (journal.size() > mark_) {
    const Undo& undo = journal.back();
    if (undo.node.valid()) {
      ledger_.at(undo.node).cells[undo.id.index()].usage = undo.usage;
    } else {
      bool& out = ledger_.claims_.change(undo.workload.index()).out;
      out = !out;
    }
    journal.pop_back();
  }
  --ledger_.open_trials_;
  mark_ = std::numeric_limits<std::size_t>::max();
}

// --- Checking.

std::vector<std::string> Ledger::check() const {
  std::vector<std::string> broken;
  Ledger again = *this;
  again.journal_.clear();
  again.open_trials_ = 0;
  for (QuotaNodeId node : again.cluster_queues()) {
    for (std::size_t i = 0; i < at(node).cells.size(); ++i) {
      FlavorResourceId id(i);
      again.at(node).cells[i].usage = counted(node, id);
    }
  }
  for (const auto& [name, node] : again.cohorts_) again.place_subtree(node);
  for (const auto& [name, node] : again.cluster_queues_) again.refresh_up(node);
  for (const auto& [name, node] : again.cohorts_) again.refresh_up(node);
  auto differ = [&](QuotaNodeId node, std::size_t i, std::string_view what, Amount have, Amount want) {
    if (have == want) return;
    broken.push_back(path(node) + ": " + std::string(what) + " of flavor-resource " + std::to_string(i) + " is " +
                     std::to_string(have.count()) + ", a recomputation gives " + std::to_string(want.count()));
  };
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    QuotaNodeId node(n);
    std::size_t size = std::max(at(node).cells.size(), again.at(node).cells.size());
    for (std::size_t i = 0; i < size; ++i) {
      const Cell &have = cell(node, FlavorResourceId(i)), &want = again.cell(node, FlavorResourceId(i));
      differ(node, i, "usage", have.usage, want.usage);
      differ(node, i, "subtree quota", have.subtree, want.subtree);
      differ(node, i, "local quota", have.local, want.local);
      if (have.usage < Amount()) broken.push_back(path(node) + ": usage is negative");
    }
  }
  return broken;
}

}  // namespace berth::engine
