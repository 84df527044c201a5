#include "embedded/simulate/load.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/yaml.h"
#include "embedded/cluster/nodes.h"
#include "embedded/simulate/load_objects.h"
#include "embedded/simulate/members.h"

namespace berth::simulate {
namespace {

constexpr std::size_t kMaxQueues = 10'000;
constexpr std::int64_t kMaxCount = 1'000'000;
constexpr std::int64_t kMaxInterval = 1'000LL * 3600;            // milliseconds
constexpr std::int64_t kMaxRuntime = 1'000LL * 3600 * 24 * 365;  // milliseconds
constexpr std::size_t kMaxLevels = 16;                           // limit of a Topology
constexpr std::size_t kMaxLabelValue = 63;                       // limit of Kubernetes for label values
constexpr std::string_view kDefaultFlavor = "default";

double cpus(const Quantity& quantity) { return static_cast<double>(quantity.milli_value()) / 1000; }

// Keeps the first error. After an error the readers return defaults.
class Parser {
 public:
  explicit Parser(const LoadOptions& options) : options_(options) {}

  Result<Load> parse(const Json& root) {
    check(known_members(root, "load", {"topology", "resourceFlavor", "cohorts"}));
    parse_layout(root);
    const auto& cohorts = list(root, "cohorts", "load");
    for (std::size_t i = 0; i < cohorts.size(); ++i) parse_cohort_set(cohorts[i], at("load.cohorts", i));
    if (!error_) finish();
    if (error_) return tl::unexpected(*error_);
    return std::move(load_);
  }

 private:
  // --- Reading members.

  static std::string at(const std::string& path, std::size_t index) { return path + "[" + std::to_string(index) + "]"; }

  void wrong(std::string message) {
    if (!error_) error_ = Error{std::move(message)};
  }
  void check(const Result<void>& result) {
    if (!result) wrong(result.error().message);
  }

  std::string text(const Json& value, std::string_view key, const std::string& path, bool required = true) {
    const std::string found(string_at(value, {key}));
    if (found.empty() && (required || find(value, key) != nullptr))
      wrong(path + "." + std::string(key) + ": expected a text");
    return found;
  }

  // A text that must be one of `known`. Returns the first of them when the member is absent.
  std::string choice(const Json& value, std::string_view key, const std::string& path,
                     std::initializer_list<std::string_view> known) {
    if (find(value, key) == nullptr) return std::string(*known.begin());
    const auto found = string_at(value, {key});
    if (std::find(known.begin(), known.end(), found) != known.end()) return std::string(found);
    std::string expected;
    for (const auto word : known) expected.append(expected.empty() ? "" : ", ").append(word);
    wrong(path + "." + std::string(key) + ": expected one of: " + expected);
    return {};
  }

  std::int64_t number(const Json& value, std::string_view key, const std::string& path, std::int64_t least,
                      std::int64_t most, std::optional<std::int64_t> otherwise = {}) {
    const Json* found = find(value, key);
    if (found == nullptr && otherwise) return *otherwise;
    const auto given = optional_int_at(value, {key});
    if (given && *given >= least && *given <= most) return *given;
    wrong(path + "." + std::string(key) + ": expected a whole number from " + std::to_string(least) + " to " +
          std::to_string(most));
    return least;
  }

  std::optional<Quantity> quantity(const Json& value, std::string_view key, const std::string& path) {
    const Json* found = find(value, key);
    if (found == nullptr) return std::nullopt;
    auto parsed = Quantity::parse(found->is_string() ? std::string(view(found->as_string())) : to_string(*found));
    if (parsed && parsed->sign() >= 0) return *parsed;
    wrong(path + "." + std::string(key) + ": expected a quantity from 0, such as 20 or 500m");
    return std::nullopt;
  }

  Quantity required_quantity(const Json& value, std::string_view key, const std::string& path) {
    const auto found = quantity(value, key, path);
    if (!found) wrong(path + "." + std::string(key) + ": expected a quantity from 0, such as 20 or 500m");
    return found.value_or(Quantity());
  }

  // An empty list is an error.
  const JsonArray& list(const Json& value, std::string_view key, const std::string& path) {
    const auto& found = array_at(value, {key});
    if (found.empty()) wrong(path + "." + std::string(key) + ": expected a list with at least one entry");
    return found;
  }

  // --- Nodes.

  void parse_layout(const Json& root) {
    if (const Json* topology = find(root, "topology")) parse_topology(*topology);
    layout_.flavor = kDefaultFlavor;
    const Json* flavor = find(root, "resourceFlavor");
    if (flavor == nullptr) return;
    const std::string path = "load.resourceFlavor";
    check(known_members(*flavor, path, {"name", "nodeLabel", "topologyName"}));
    layout_.flavor = text(*flavor, "name", path);
    layout_.flavor_label = text(*flavor, "nodeLabel", path, false);
    const std::string topology = text(*flavor, "topologyName", path, false);
    layout_.flavor_in_topology = !topology.empty();
    if (topology.empty()) return;
    if (topology != layout_.topology)
      wrong(path + ".topologyName: \"" + topology + "\" is not the name of load.topology");
    if (layout_.flavor_label.empty())
      wrong(path + ".nodeLabel: is required with a topologyName: it tells which nodes the flavor has");
  }

  void parse_topology(const Json& topology) {
    const std::string path = "load.topology";
    check(known_members(topology, path, {"name", "levels"}));
    layout_.topology = text(topology, "name", path);
    const auto& levels = list(topology, "levels", path);
    if (levels.size() > kMaxLevels)
      return wrong(path + ".levels: expected at most " + std::to_string(kMaxLevels) + " levels");
    std::int64_t total = 1;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const std::string here = at(path + ".levels", i);
      check(known_members(levels[i], here, {"name", "count", "nodeLabel", "capacity"}));
      LoadLevel level{text(levels[i], "name", here), text(levels[i], "nodeLabel", here),
                      number(levels[i], "count", here, 1, cluster::kMaxNodes)};
      longest += level.name.size() + std::to_string(level.count - 1).size() + 2;
      total *= level.count;
      if (total > cluster::kMaxNodes)
        return wrong(here + ".count: more than " + std::to_string(cluster::kMaxNodes) + " nodes in all");
      layout_.levels.push_back(std::move(level));
    }
    if (levels.empty()) return;
    if (longest - 1 > kMaxLabelValue) wrong(path + ".levels: the names together are too long for the names of nodes");
    const std::string last = at(path + ".levels", levels.size() - 1) + ".capacity";
    const Json* capacity = find(levels[levels.size() - 1], "capacity");
    if (capacity == nullptr) return wrong(last + ": is missing: what one node has");
    check(known_members(*capacity, last, {"cpu", "memory"}));
    layout_.cpu = required_quantity(*capacity, "cpu", last);
    layout_.memory = required_quantity(*capacity, "memory", last);
  }

  // --- Queues and workloads.

  void parse_cohort_set(const Json& value, const std::string& path) {
    check(known_members(value, path, {"className", "count", "queuesSets"}));
    const std::string name = text(value, "className", path);
    const auto count = number(value, "count", path, 1, kMaxCount);
    const auto& sets = list(value, "queuesSets", path);
    for (std::int64_t i = 0; i < count && !error_; ++i) {
      for (std::size_t s = 0; s < sets.size(); ++s)
        parse_queues_set(sets[s], at(path + ".queuesSets", s), name + "-" + std::to_string(i), s);
    }
  }

  void parse_queues_set(const Json& value, const std::string& path, const std::string& cohort, std::size_t set) {
    check(known_members(value, path,
                        {"className", "count", "nominalQuota", "borrowingLimit", "reclaimWithinCohort",
                         "withinClusterQueue", "workloadsSets"}));
    const std::string name = text(value, "className", path);
    const auto count = number(value, "count", path, 1, kMaxCount);
    LoadQueue queue;
    queue.cohort = cohort;
    queue.nominal = required_quantity(value, "nominalQuota", path);
    queue.borrowing_limit = quantity(value, "borrowingLimit", path);
    const LoadPreemption preemption{
        choice(value, "reclaimWithinCohort", path, {"Never", "LowerPriority", "Any"}),
        choice(value, "withinClusterQueue", path, {"Never", "LowerPriority", "LowerOrNewerEqualPriority"})};
    const auto& sets = list(value, "workloadsSets", path);
    for (std::int64_t i = 0; i < count && !error_; ++i) {
      queue.name = name + "-" + std::to_string(set) + "-" + std::to_string(i) + "-" + cohort;
      if (!names_.insert(queue.name).second)
        return wrong(path + ".className: a second queue " + queue.name + "; name the cohorts differently");
      if (load_.queues.size() == kMaxQueues)
        return wrong(path + ".count: more than " + std::to_string(kMaxQueues) + " queues in all");
      load_.queues.push_back(queue);
      preemption_.push_back(preemption);
      for (std::size_t s = 0; s < sets.size(); ++s) parse_workloads_set(sets[s], at(path + ".workloadsSets", s), s);
    }
  }

  // For the queue that was added last.
  void parse_workloads_set(const Json& value, const std::string& path, std::size_t set) {
    if (error_) return;
    check(known_members(value, path, {"count", "creationIntervalMs", "workloads"}));
    const auto workloads_of_file =
        std::min<std::int64_t>(number(value, "count", path, 1, kMaxCount), static_cast<std::int64_t>(options_.limit));
    const auto times = (workloads_of_file + options_.merge - 1) / options_.merge;
    const std::chrono::milliseconds interval(options_.merge *
                                             number(value, "creationIntervalMs", path, 0, kMaxInterval));
    const auto& workloads = list(value, "workloads", path);
    std::vector<std::size_t> kinds;
    for (std::size_t i = 0; i < workloads.size(); ++i)
      kinds.push_back(kind_of(workloads[i], at(path + ".workloads", i)));
    Duration when{};
    for (std::int64_t n = 0; n < times && !error_; ++n) {
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (load_.submissions.size() == kMaxSubmissions)
          return wrong(path + ".count: more than " + std::to_string(kMaxSubmissions) + " workloads in all");
        when += interval;
        load_.submissions.push_back({when, load_.queues.size() - 1, kinds[i],
                                     load_.kinds[kinds[i]].class_name + "-" + std::to_string(set) + "-" +
                                         std::to_string(n) + "-" + std::to_string(i)});
      }
    }
  }

  // Each entry of the file is one kind, however many queues use it.
  std::size_t kind_of(const Json& value, const std::string& path) {
    if (const auto known = kinds_.find(path); known != kinds_.end()) return known->second;
    check(known_members(
        value, path,
        {"className", "runtimeMs", "priority", "request", "podCount", "tasConstraint", "tasLevel", "sliceSize"}));
    LoadKind kind;
    kind.class_name = text(value, "className", path);
    kind.runtime = std::chrono::milliseconds(number(value, "runtimeMs", path, 0, kMaxRuntime));
    kind.priority = static_cast<std::int32_t>(number(value, "priority", path, std::numeric_limits<std::int32_t>::min(),
                                                     std::numeric_limits<std::int32_t>::max(), 0));
    kind.request = required_quantity(value, "request", path);
    kind.pods = number(value, "podCount", path, 1, kMaxCount, 1);
    parse_constraint(value, path, kind);
    if (options_.merge > 1) {
      kind.pods *= options_.merge;
      kind.runtime *= options_.merge;
      kind.request = Quantity::of_milli((kind.request.milli_value() + options_.merge - 1) / options_.merge);
    }
    load_.kinds.push_back(std::move(kind));
    return kinds_[path] = load_.kinds.size() - 1;
  }

  void parse_constraint(const Json& value, const std::string& path, LoadKind& kind) {
    kind.level = text(value, "tasLevel", path, false);
    const std::string constraint = choice(value, "tasConstraint", path, {"none", "required", "preferred", "balanced"});
    kind.slice_size = number(value, "sliceSize", path, 1, kind.pods, 0);
    using Topology = LoadKind::Topology;
    kind.topology = constraint == "required"    ? Topology::kRequired
                    : constraint == "preferred" ? Topology::kPreferred
                    : constraint == "balanced"  ? Topology::kSlices
                                                : Topology::kNone;
    if (kind.slice_size > 0 && kind.topology != Topology::kSlices)
      wrong(path + ".sliceSize: only with tasConstraint: balanced");
    if (kind.level.empty() != (kind.topology == Topology::kNone))
      return wrong(path + ".tasLevel: expected together with a tasConstraint, and not without");
    const bool known = std::any_of(layout_.levels.begin(), layout_.levels.end(),
                                   [&](const LoadLevel& level) { return level.label == kind.level; });
    if (!kind.level.empty() && !known)
      wrong(path + ".tasLevel: \"" + kind.level + "\" is not the nodeLabel of a level of load.topology");
  }

  // --- Values derived from the whole load.

  void finish() {
    std::sort(load_.submissions.begin(), load_.submissions.end(), [](const Submission& a, const Submission& b) {
      return std::tie(a.at, a.queue, a.name) < std::tie(b.at, b.queue, b.name);
    });
    compute_floor();
    if (layout_.levels.empty()) make_enough_nodes();
    load_.nodes = load_nodes(layout_);
    if (!layout_.topology.empty()) load_.objects.push_back(load_topology(layout_));
    load_.objects.push_back(load_flavor(layout_));
    std::set<std::int32_t> priorities;
    for (const auto& kind : load_.kinds) priorities.insert(kind.priority);
    for (const auto priority : priorities) load_.objects.push_back(load_priority_class(priority));
    for (std::size_t i = 0; i < load_.queues.size(); ++i) {
      for (auto& object : load_queue(load_.queues[i], preemption_[i], layout_.flavor))
        load_.objects.push_back(std::move(object));
    }
  }

  void compute_floor() {
    std::map<std::string, double> work_of, quota_of;  // by cohort
    std::vector<double> work(load_.queues.size(), 0);
    for (const auto& submission : load_.submissions) work[submission.queue] += load_.kinds[submission.kind].work();
    for (std::size_t i = 0; i < load_.queues.size(); ++i) {
      work_of[load_.queues[i].cohort] += work[i];
      quota_of[load_.queues[i].cohort] += cpus(load_.queues[i].nominal);
    }
    double floor = 0;
    for (std::size_t i = 0; i < load_.queues.size(); ++i) {
      const auto& queue = load_.queues[i];
      const double all = quota_of.at(queue.cohort);
      const double own =
          queue.borrowing_limit ? std::min(all, cpus(queue.nominal) + cpus(*queue.borrowing_limit)) : all;
      if (all == 0 || own == 0)
        return wrong("load.cohorts: the queue " + queue.name + " may use nothing: all its quota is 0");
      floor = std::max({floor, work_of.at(queue.cohort) / all, work[i] / own});
    }
    load_.quota_floor = std::chrono::round<Duration>(std::chrono::duration<double>(floor));
  }

  // Enough nodes that only quota limits admission.
  void make_enough_nodes() {
    Quantity all;
    for (const auto& queue : load_.queues) all = all + queue.nominal;
    layout_.levels = {
        {"node", "kubernetes.io/hostname", static_cast<std::int64_t>(load_.queues.size()) * options_.merge}};
    layout_.cpu = all;
    layout_.memory = Quantity::of(1LL << 40, Quantity::Format::kBinarySi);
  }

  const LoadOptions& options_;
  std::optional<Error> error_;
  Load load_;
  LoadLayout layout_;
  std::vector<LoadPreemption> preemption_;    // one per queue
  std::set<std::string> names_;               // of queues
  std::map<std::string, std::size_t> kinds_;  // by their place in the document
};

}  // namespace

double LoadKind::work() const {
  return static_cast<double>(pods) * cpus(request) * std::chrono::duration<double>(runtime).count();
}

Result<Load> parse_load(std::string_view text, const LoadOptions& options) {
  auto documents = parse_yaml(text);
  if (!documents) return tl::unexpected(documents.error());
  if (documents->size() != 1)
    return fail("a load is one YAML document, this file has " + std::to_string(documents->size()));
  return Parser(options).parse(documents->front());
}

}  // namespace berth::simulate
