// How much each local queue used lately: the order of local queues with admission fair sharing (KEP-4136).
//
// Usage decays with a half-life: while a queue uses `u` of a resource, its past usage `v` moves towards u, and halves
// the distance in each half-life. So v at any later time follows from v, its time and u, and is computed only when it
// is asked for or u changes: time that passes costs nothing.
//
//   v(t) = u + (v(t0) - u) * 2^-((t - t0) / half-life)
//
// What a workload uses counts from its quota reservation or, where usage decides nothing, from its admission. In
// addition, a workload counts from its reservation as if it had already run for one sampling interval (the entry
// penalty), so that queues of equal usage alternate. What is charged in advance shrinks as the real usage grows, and is
// gone with the claim.
//
// Amounts are in 2^-32 of a billionth of the unit (of a cpu, a byte, a device). One update rounds by at most one of
// these, plus 2^-56 of the amount. The book is a value: a copy goes on by itself.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/config/policies.h"
#include "engine/queue/halving.h"
#include "engine/queue/usage_record.h"
#include "engine/quota/ids.h"

namespace berth::engine {

using AccountId = Id<struct AccountTag>;  // a local queue in the book
using UseId = Id<struct UseTag>;          // a claim in the book

// Usage of all resources by their weights, divided by the weight of the queue. Lower goes first. Of each resource whole
// billionths count, as in the status of the queue: what is not written decides nothing, and a restart loses nothing
// that decides.
struct Score {
  bool last = false;  // the queue's weight is 0: it comes after all others, however little it used
  Wide value = 0;     // in 2^-32 of a billionth
  static constexpr int kFractionBits = 32;
  auto operator<=>(const Score&) const = default;
};
Quantity to_quantity(const Score& score);  // its value, rounded down to billionths; saturates

// More than 40 methods: half of them are private steps of a charge, which is compiled as one function.
class UsageBook {
 public:
  using Resource = std::uint32_t;  // an index into the book's names
  struct Used {
    Resource resource = 0;
    Wide amount = 0;  // in billionths, rounded down
    bool operator==(const Used&) const = default;
  };
  struct Charge {
    Resource resource = 0;
    std::uint64_t amount = 0;  // milli-cpu or units, as in Amount
    bool operator==(const Charge&) const = default;
  };
  using Charges = std::vector<Charge>;
  // The usage of a local queue at a time.
  struct Sample {
    std::vector<Used> used;  // by resource
    Time at{};
    Score score;
  };

  explicit UsageBook(const api::config::AdmissionFairSharing& rules);
  bool on() const { return on_; }
  // All other calls happen at this time. It never goes back.
  void set_time(Time now) { now_ = std::max(now_, now); }

  Resource resource(std::string_view name);
  const std::string& name(Resource resource) const { return resources_[resource].name; }

  // --- Local queues.
  // Opens an account, or changes its weight. What workloads used before `since` does not count.
  AccountId open(std::string_view local_queue, std::string_view cluster_queue, Quantity::Fraction weight, Time since);
  // The account had used this much at `at` (billionths), as a status says. Claims count from then on.
  void recall(AccountId account, std::vector<Used> used, Time at);
  void close(AccountId account);
  AccountId find(std::string_view local_queue) const;  // invalid: no account
  const std::string& local_queue(AccountId account) const { return accounts_[account.index()].local_queue; }
  std::span<const AccountId> accounts_in(std::string_view cluster_queue) const;
  // Now; an invalid account has used nothing. Usage does not depend on how often it is asked for.
  Score score(AccountId account);

  // --- Claims (usage_claims.cpp). Repeating a call changes nothing.
  // The claim `use` (invalid: a new one) holds these amounts, and runs since a time or not yet. An invalid account:
  // nobody's use. `amounts`: a range of Charge; those of the same resource are added.
  template <typename Amounts>
  void charge(UseId& use, AccountId account, const Amounts& amounts, std::optional<Time> runs_since) {
    if (half_life_ <= Duration(0)) return;
    charge_written(use, account, write_amounts(amounts), runs_since);
  }
  void charge(UseId& use, AccountId account, const Charges& amounts, std::optional<Time> runs_since) {
    charge<Charges>(use, account, amounts, runs_since);
  }
  void discharge(UseId& use);

  // --- Samples: what the status of a local queue tells.
  const Sample& sample(AccountId account) const { return accounts_[account.index()].sample; }
  bool sample_due() const { return !due_.empty() && due_.begin()->first <= now_; }
  std::optional<Time> next_sample() const;  // nullopt: no sample would differ from the last one
  // Takes the samples of accounts whose claims changed, and those that are due. Returns the accounts whose claims or
  // usage differ from their last sample.
  std::vector<AccountId> take_samples();

  // --- Copies by values (usage_record.cpp).
  // The whole book. `uses`: all claims, with the uids of their workloads.
  std::vector<UsageRecord> records(const std::vector<std::pair<std::string, UseId>>& uses) const;
  // Brings a local queue that is open and has no claims yet to what was recorded, and takes the claims of the record.
  // Returns those with the uids of their workloads.
  std::vector<std::pair<std::string, UseId>> restore(const UsageRecord& record);

  // Broken invariants as sentences: sums against the claims.
  std::vector<std::string> check() const;
  std::size_t claims() const { return claims_.size() - free_claims_.size(); }

 private:
  struct Named {
    std::string name;
    std::uint64_t billionths = 0;  // in one unit of Amount
    Quantity::Fraction weight;
  };
  struct Line {  // of one resource
    Resource resource = 0;
    Wide value = 0;    // past usage, at the time of the account
    Wide running = 0;  // now in use
    Wide waiting = 0;  // reserved by workloads that do not run yet
    // Of the running ones, those younger than one sampling interval, and what they have been charged by `value`.
    Wide young = 0, young_value = 0;
    // At `settled_at` of the account: past usage, and what is charged in advance of the young ones.
    Wide settled = 0;
  };
  struct Account {
    // What each charge and each score read comes first.
    Time since{};  // claims count from here
    Time at{};
    std::optional<Time> settled_at;  // nullopt: what runs has changed since then
    std::vector<Line> lines;         // by resource
    std::size_t claims = 0;          // how many are on it
    Quantity::Fraction weight;
    bool in_use = false;
    bool changed = false;       // must be sampled; listed in changed_
    bool other_claims = false;  // than at the last sample: what follows from that sample is no longer true
    std::size_t pool = 0;
    std::string local_queue, cluster_queue;
    std::map<Time, std::vector<Used>> young;  // amounts of charges by the time when they began to run
    Sample sample;
    std::optional<Time> due;  // when the next sample is due
  };
  struct Claim {
    AccountId account;
    std::uint32_t begin = 0, resources = 0;  // its amounts: a run in charges_
    std::optional<Time> runs_since;
  };
  struct Pool {  // the local queues of a cluster queue
    std::vector<AccountId> accounts;
    std::vector<Resource> used;  // resources that any of them ever used: all samples name them
  };

  static constexpr int kFractionBits = Score::kFractionBits;
  // Larger amounts count as this: no product overflows then.
  static constexpr Wide kMostUnits = std::numeric_limits<std::int64_t>::max();

  static void add_to(std::vector<Used>& used, const Used& more);
  Wide exact(Resource resource, Wide amount) const;
  Wide in_advance(Resource resource, Wide amount) const;
  Wide weighted(const Line& line) const;
  std::uint64_t part_faded(Duration elapsed);
  // Lines of the account, as of its time. Brings them to now.
  void grow(const Account& account, std::vector<Line>& lines);
  void bring_up(Account& account);
  void settle(Account& account);
  // The index of the resource's line, which is made if there is none. All before `from` are of smaller resources.
  std::size_t line_at(Account& account, Resource resource, std::size_t from = 0);
  Line& line_of(Account& account, Resource resource) { return account.lines[line_at(account, resource)]; }
  void count_since(AccountId id, Time at);

  // Behind all others in charges_: by resource, each once, and none is 0. Returns where they begin.
  template <typename Amounts>
  std::size_t write_amounts(const Amounts& amounts) {
    const std::size_t begin = charges_.size();
    for (const Charge each : amounts) {
      if (each.amount == 0) continue;
      if (charges_.size() == begin || charges_.back().resource < each.resource) {
        charges_.push_back(each);
      } else {
        sort_in(begin, each);
      }
    }
    return begin;
  }
  void sort_in(std::size_t begin, const Charge& charge);
  void charge_written(UseId& use, AccountId account, std::size_t begin, std::optional<Time> runs_since);
  std::span<const Charge> amounts_of(const Claim& claim) const {
    return {charges_.data() + claim.begin, claim.resources};
  }
  void keep_amounts(Claim& claim, std::size_t begin);
  void forget_amounts(const Claim& claim);
  void add(AccountId id, const Claim& claim, Time from);
  void add_waiting(Account& account, const Claim& claim);
  void add_running(Account& account, const Claim& claim, Time from);
  void remove(const Claim& claim);
  static void count_in(Account& account, Line& line, const Claim& claim, const Charge& charge, bool young);
  UseId new_use(const Claim& claim);
  // Examines all claims of the book: for what is rare.
  template <typename Claims, typename Visit>
  static void for_each_claim(Claims& claims, AccountId id, Visit visit) {
    for (auto& each : claims) {
      if (each.account == id) visit(each);
    }
  }
  void note_use(Account& account, Resource resource);
  void note_change(AccountId id);
  void note_claims(AccountId id);
  std::vector<Used> shown(const Account& account) const;
  bool moves(const Account& account) const;
  void plan_sample(AccountId id);
  UsageRecord::Account record_of(const Account& account) const;
  void restore(AccountId id, const UsageRecord::Account& record);
  UseId restore(AccountId id, const UsageRecord::Claim& record);

  bool on_;
  Duration half_life_, interval_;
  std::map<std::string, Quantity::Fraction, std::less<>> weights_;
  std::uint64_t first_interval_ = 0;  // the part of an amount that one sampling interval charges
  Time now_{};
  std::vector<Named> resources_;
  std::map<std::string, Resource, std::less<>> resource_ids_;
  std::vector<Account> accounts_;
  std::vector<AccountId> free_accounts_;
  std::map<std::string, AccountId, std::less<>> by_local_queue_;
  std::vector<Pool> pools_;
  std::vector<std::size_t> free_pools_;
  std::map<std::string, std::size_t, std::less<>> by_cluster_queue_;
  std::vector<Claim> claims_;
  std::vector<UseId> free_claims_;
  Charges charges_;                                    // the amounts of claims
  std::vector<std::vector<std::uint32_t>> free_runs_;  // in charges_, by their length
  struct {
    Duration elapsed{};
    std::uint64_t part = 0;
  } faded_;                         // the last answer: many accounts were brought up at the same time
  std::vector<AccountId> changed_;  // some need no sample any more
  std::set<std::pair<Time, AccountId>> due_;
};

}  // namespace berth::engine
