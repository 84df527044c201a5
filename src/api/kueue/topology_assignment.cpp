#include "api/kueue/topology_assignment.h"
#include "api/core/node_labels.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace berth::api::kueue {
namespace {

// The schema's bounds.
constexpr std::size_t kMaxDomainsPerSlice = 100'000;
constexpr std::size_t kMaxSlices = 1000;
constexpr std::size_t kMaxLevels = 16;

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

std::size_t common_suffix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin());
}

// --- Writing. A slice is the domains [begin, end).

struct Run {
  std::size_t begin, end;
};

// The values of one level: one value that all domains of the slice share; or a common prefix and suffix and, for each
// domain, the part between them.
JsonObject encode_values(const TopologyAssignment& assignment, Run run, std::size_t level) {
  const auto value = [&](std::size_t i) -> const std::string& { return assignment.domains[i].values[level]; };
  const std::string& first = value(run.begin);
  std::size_t shortest = first.size(), prefix = first.size(), suffix = first.size();
  bool same = true;
  for (std::size_t i = run.begin + 1; i < run.end; ++i) {
    same = same && value(i) == first;
    shortest = std::min(shortest, value(i).size());
    prefix = std::min(prefix, common_prefix(first, value(i)));
    suffix = std::min(suffix, common_suffix(first, value(i)));
  }
  if (same) return JsonObject{{"universal", first}};
  prefix = std::min(prefix, shortest - suffix);  // they may not overlap in the shortest value
  JsonObject individual;
  if (prefix > 0) individual["prefix"] = first.substr(0, prefix);
  if (suffix > 0) individual["suffix"] = first.substr(first.size() - suffix);
  JsonArray roots;
  roots.reserve(run.end - run.begin);
  for (std::size_t i = run.begin; i < run.end; ++i)
    roots.emplace_back(std::string_view(value(i)).substr(prefix, value(i).size() - prefix - suffix));
  individual["roots"] = std::move(roots);
  return JsonObject{{"individual", std::move(individual)}};
}

JsonObject encode_counts(const TopologyAssignment& assignment, Run run) {
  const std::int32_t first = assignment.domains[run.begin].count;
  JsonArray counts;
  counts.reserve(run.end - run.begin);
  bool same = true;
  for (std::size_t i = run.begin; i < run.end; ++i) {
    same = same && assignment.domains[i].count == first;
    counts.emplace_back(assignment.domains[i].count);
  }
  if (same) return JsonObject{{"universal", first}};
  return JsonObject{{"individual", std::move(counts)}};
}

JsonObject encode_slice(const TopologyAssignment& assignment, Run run) {
  JsonArray levels;
  for (std::size_t level = 0; level < assignment.levels.size(); ++level)
    levels.push_back(encode_values(assignment, run, level));
  return JsonObject{{"domainCount", static_cast<std::int64_t>(run.end - run.begin)},
                    {"valuesPerLevel", std::move(levels)},
                    {"podCounts", encode_counts(assignment, run)}};
}

void append_chunks(std::vector<Run>& runs, Run run) {
  for (std::size_t begin = run.begin; begin < run.end; begin += kMaxDomainsPerSlice)
    runs.push_back({begin, std::min(begin + kMaxDomainsPerSlice, run.end)});
}

// The longest common prefix of `name` and `other` that ends in a dash, among the first `dashes` dashes of `name`.
std::string_view shared_prefix(std::string_view name, std::string_view other, std::size_t dashes) {
  const std::size_t common = common_prefix(name, other);
  std::size_t length = 0;
  for (std::size_t at = name.find('-'); dashes > 0 && at < common; at = name.find('-', at + 1), --dashes)
    length = at + 1;
  return name.substr(0, length);
}

// Splits the domains into runs of consecutive hostnames with the same prefix. The prefix of a hostname is the longest
// shared_prefix() with a neighbour.
std::vector<Run> runs_by_prefix(const std::vector<TopologyDomain>& domains, std::size_t dashes) {
  const auto name = [&](std::size_t i) -> std::string_view { return domains[i].values.front(); };
  const auto prefix = [&](std::size_t i) {
    const auto before = i > 0 ? shared_prefix(name(i), name(i - 1), dashes) : std::string_view();
    const auto after = i + 1 < domains.size() ? shared_prefix(name(i), name(i + 1), dashes) : std::string_view();
    return std::max(before, after, [](auto a, auto b) { return a.size() < b.size(); });
  };
  std::vector<Run> runs;
  std::size_t begin = 0;
  std::string_view current = prefix(0);
  for (std::size_t i = 1; i < domains.size(); ++i) {
    const std::string_view next = prefix(i);
    if (next == current) continue;
    append_chunks(runs, {begin, i});
    begin = i;
    current = next;
  }
  append_chunks(runs, {begin, domains.size()});
  return runs;
}

// Splits by the longest prefixes that give at most kMaxSlices runs. Fewer dashes never give more runs, so a binary
// search finds the number of dashes.
std::vector<Run> split_by_prefix(const TopologyAssignment& assignment) {
  std::size_t most = 0;
  for (const auto& domain : assignment.domains)
    most = std::max(most, static_cast<std::size_t>(std::ranges::count(domain.values.front(), '-')));
  std::vector<Run> runs = runs_by_prefix(assignment.domains, most);
  if (runs.size() <= kMaxSlices) return runs;
  for (std::size_t least = 0; least + 1 < most;) {  // `most` dashes are too many, `least` are not
    const std::size_t middle = (least + most) / 2;
    (runs_by_prefix(assignment.domains, middle).size() > kMaxSlices ? most : least) = middle;
  }
  return runs_by_prefix(assignment.domains, most - 1);
}

JsonArray encode_slices(const TopologyAssignment& assignment, const std::vector<Run>& runs) {
  JsonArray slices;
  slices.reserve(runs.size());
  for (const Run& run : runs) slices.push_back(encode_slice(assignment, run));
  return slices;
}

}  // namespace

Json encode_topology_assignment(const TopologyAssignment& assignment) {
  JsonArray levels;
  for (const auto& level : assignment.levels) levels.emplace_back(level);
  std::vector<Run> whole;
  append_chunks(whole, {0, assignment.domains.size()});
  JsonArray slices = encode_slices(assignment, whole);
  const bool by_hostname = assignment.levels.size() == 1 && assignment.levels.front() == kHostnameLabel;
  if (by_hostname && assignment.domains.size() > 1) {
    if (const auto runs = split_by_prefix(assignment); runs.size() > whole.size()) {
      JsonArray split = encode_slices(assignment, runs);
      if (to_string(Json(split)).size() < to_string(Json(slices)).size()) slices = std::move(split);
    }
  }
  return JsonObject{{"levels", std::move(levels)}, {"slices", std::move(slices)}};
}

namespace {

// --- Reading.

// The values of one level in one slice.
struct LevelValues {
  std::string_view universal;
  const JsonArray* roots = nullptr;  // null: universal
  std::string_view prefix, suffix;

  std::string at(std::size_t domain) const {
    if (!roots) return std::string(universal);
    std::string text(prefix);
    return text.append(view((*roots)[domain].get_string())).append(suffix);
  }
};

// The pod counts of the domains of one slice.
struct PodCounts {
  std::int32_t universal = 0;
  const JsonArray* individual = nullptr;  // null: universal

  std::int32_t at(std::size_t domain) const {
    return individual ? static_cast<std::int32_t>((*individual)[domain].get_int64()) : universal;
  }
};

// Requires exactly one of the two forms.
Result<void> one_form(const Json& value, const std::string& path) {
  if ((find(value, "universal") != nullptr) == (find(value, "individual") != nullptr))
    return fail(path + ": expected exactly one of universal and individual");
  return {};
}

Result<std::string_view> optional_text(const Json& value, std::string_view key, const std::string& path) {
  const Json* member = find(value, key);
  if (!member) return std::string_view();
  if (!member->is_string()) return fail(path + "." + std::string(key) + ": expected a string");
  return view(member->get_string());
}

Result<LevelValues> decode_values(const Json& value, std::size_t domains, const std::string& path) {
  if (auto form = one_form(value, path); !form) return tl::unexpected(form.error());
  LevelValues out;
  if (const Json* universal = find(value, "universal")) {
    if (!universal->is_string()) return fail(path + ".universal: expected a string");
    out.universal = view(universal->get_string());
    return out;
  }
  const Json& individual = *find(value, "individual");
  const std::string at = path + ".individual";
  const auto prefix = optional_text(individual, "prefix", at), suffix = optional_text(individual, "suffix", at);
  if (!prefix) return tl::unexpected(prefix.error());
  if (!suffix) return tl::unexpected(suffix.error());
  out.prefix = *prefix;
  out.suffix = *suffix;
  out.roots = &array_at(individual, {"roots"});
  if (out.roots->size() != domains)
    return fail(at + ".roots: expected " + std::to_string(domains) + " strings, one for each domain, found " +
                std::to_string(out.roots->size()));
  if (!std::all_of(out.roots->begin(), out.roots->end(), [](const Json& root) { return root.is_string(); }))
    return fail(at + ".roots: expected strings");
  return out;
}

bool is_count(const Json& value) {
  return value.is_int64() && value.get_int64() >= 1 && value.get_int64() <= INT32_MAX;
}

Result<PodCounts> decode_counts(const Json& slice, std::size_t domains) {
  const Json* value = find(slice, "podCounts");
  if (!value) return fail("podCounts: missing");
  if (auto form = one_form(*value, "podCounts"); !form) return tl::unexpected(form.error());
  PodCounts out;
  if (const Json* universal = find(*value, "universal")) {
    if (!is_count(*universal)) return fail("podCounts.universal: expected a number from 1 to 2147483647");
    out.universal = static_cast<std::int32_t>(universal->get_int64());
    return out;
  }
  out.individual = &array_at(*value, {"individual"});
  if (out.individual->size() != domains)
    return fail("podCounts.individual: expected " + std::to_string(domains) + " numbers, one for each domain, found " +
                std::to_string(out.individual->size()));
  if (!std::all_of(out.individual->begin(), out.individual->end(), is_count))
    return fail("podCounts.individual: expected numbers from 1 to 2147483647");
  return out;
}

Result<void> decode_slice(const Json& slice, TopologyAssignment& out) {
  const std::int64_t number = int_at(slice, {"domainCount"});
  if (number < 1 || number > static_cast<std::int64_t>(kMaxDomainsPerSlice))
    return fail("domainCount: expected a number from 1 to " + std::to_string(kMaxDomainsPerSlice));
  const auto domains = static_cast<std::size_t>(number);
  if (out.domains.size() + domains > kMaxDomains)
    return fail("domainCount: more than " + std::to_string(kMaxDomains) + " domains in all");
  const JsonArray& values = array_at(slice, {"valuesPerLevel"});
  if (values.size() != out.levels.size())
    return fail("valuesPerLevel: expected " + std::to_string(out.levels.size()) +
                " entries, one for each level, found " + std::to_string(values.size()));
  std::vector<LevelValues> levels;
  for (const Json& value : values) {
    auto level = decode_values(value, domains, "valuesPerLevel[" + std::to_string(levels.size()) + "]");
    if (!level) return tl::unexpected(level.error());
    levels.push_back(*level);
  }
  const auto counts = decode_counts(slice, domains);
  if (!counts) return tl::unexpected(counts.error());
  for (std::size_t d = 0; d < domains; ++d) {
    TopologyDomain& domain = out.domains.emplace_back();
    domain.values.reserve(levels.size());
    for (const auto& level : levels) domain.values.push_back(level.at(d));
    domain.count = counts->at(d);
  }
  return {};
}

}  // namespace

Result<TopologyAssignment> decode_topology_assignment(const Json& value) {
  TopologyAssignment out;
  for (const Json& level : array_at(value, {"levels"})) {
    if (!level.is_string()) return fail("levels: expected strings");
    out.levels.emplace_back(level.get_string());
  }
  if (out.levels.empty() || out.levels.size() > kMaxLevels) return fail("levels: expected 1 to 16 node labels");
  const JsonArray& slices = array_at(value, {"slices"});
  if (slices.size() > kMaxSlices) return fail("slices: expected at most " + std::to_string(kMaxSlices));
  for (std::size_t s = 0; s < slices.size(); ++s) {
    if (auto decoded = decode_slice(slices[s], out); !decoded)
      return fail("slices[" + std::to_string(s) + "]." + decoded.error().message);
  }
  return out;
}

}  // namespace berth::api::kueue
