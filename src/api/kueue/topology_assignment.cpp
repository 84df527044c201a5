#include "api/kueue/topology_assignment.h"

#include <algorithm>
#include <string>

namespace berth::api::kueue {
namespace {

// The schema's bounds.
constexpr std::int64_t kMaxDomainsPerSlice = 100'000;
constexpr std::size_t kMaxSlices = 1000;

// A value that all domains of a slice share, or one for each of them.
JsonObject encode_values(const std::vector<const std::string*>& values) {
  const auto same = [&](const std::string* v) { return *v == *values.front(); };
  if (std::all_of(values.begin(), values.end(), same)) return JsonObject{{"universal", *values.front()}};
  std::size_t shortest = values.front()->size(), prefix = shortest, suffix = shortest;
  const std::string& first = *values.front();
  for (const std::string* v : values) {
    shortest = std::min(shortest, v->size());
    const std::size_t common =
        static_cast<std::size_t>(std::mismatch(first.begin(), first.end(), v->begin(), v->end()).first - first.begin());
    prefix = std::min(prefix, common);
    const std::size_t tail = static_cast<std::size_t>(
        std::mismatch(first.rbegin(), first.rend(), v->rbegin(), v->rend()).first - first.rbegin());
    suffix = std::min(suffix, tail);
  }
  prefix = std::min(prefix, shortest - std::min(suffix, shortest));
  JsonObject individual;
  if (prefix > 0) individual["prefix"] = first.substr(0, prefix);
  if (suffix > 0) individual["suffix"] = first.substr(first.size() - suffix);
  JsonArray roots;
  roots.reserve(values.size());
  for (const std::string* v : values) roots.emplace_back(v->substr(prefix, v->size() - prefix - suffix));
  individual["roots"] = std::move(roots);
  return JsonObject{{"individual", std::move(individual)}};
}

JsonObject encode_slice(const TopologyAssignment& assignment, std::size_t begin, std::size_t end) {
  const auto& domains = assignment.domains;
  JsonArray levels;
  for (std::size_t level = 0; level < assignment.levels.size(); ++level) {
    std::vector<const std::string*> values;
    for (std::size_t i = begin; i < end; ++i) values.push_back(&domains[i].values[level]);
    levels.push_back(encode_values(values));
  }
  JsonArray counts;
  bool same = true;
  for (std::size_t i = begin; i < end; ++i) {
    counts.push_back(domains[i].count);
    same = same && domains[i].count == domains[begin].count;
  }
  JsonObject pods = same ? JsonObject{{"universal", domains[begin].count}} : JsonObject{{"individual", std::move(counts)}};
  return JsonObject{{"domainCount", static_cast<std::int64_t>(end - begin)},
                    {"valuesPerLevel", std::move(levels)},
                    {"podCounts", std::move(pods)}};
}

}  // namespace

Json encode_topology_assignment(const TopologyAssignment& assignment) {
  JsonArray levels, slices;
  for (const auto& level : assignment.levels) levels.emplace_back(level);
  if (!assignment.domains.empty()) slices.push_back(encode_slice(assignment, 0, assignment.domains.size()));
  return JsonObject{{"levels", std::move(levels)}, {"slices", std::move(slices)}};
}

namespace {

Result<std::string> value_at(const Json& level, std::size_t domain) {
  if (const Json* universal = find(level, "universal"))
    return universal->is_string() ? Result<std::string>(std::string(universal->as_string()))
                                  : fail("universal: expected a string");
  const Json* individual = find(level, "individual");
  if (!individual) return fail("expected universal or individual");
  const JsonArray& roots = array_at(*individual, {"roots"});
  if (domain >= roots.size() || !roots[domain].is_string())
    return fail("individual.roots: expected a string for each of the domainCount domains");
  return std::string(string_at(*individual, {"prefix"})) + std::string(roots[domain].as_string()) +
         std::string(string_at(*individual, {"suffix"}));
}

Result<std::int32_t> count_at(const Json& slice, std::size_t domain) {
  const Json* counts = find(slice, "podCounts");
  if (!counts) return fail("podCounts: missing");
  std::optional<std::int64_t> count = optional_int_at(*counts, {"universal"});
  if (!count) {
    const JsonArray& individual = array_at(*counts, {"individual"});
    if (domain < individual.size() && individual[domain].is_int64()) count = individual[domain].as_int64();
  }
  if (!count || *count < 1 || *count > INT32_MAX)
    return fail("podCounts: expected a number from 1 for each of the domainCount domains");
  return static_cast<std::int32_t>(*count);
}

}  // namespace

Result<TopologyAssignment> decode_topology_assignment(const Json& value) {
  TopologyAssignment out;
  for (const Json& level : array_at(value, {"levels"})) {
    if (!level.is_string()) return fail("levels: expected strings");
    out.levels.emplace_back(level.as_string());
  }
  const JsonArray& slices = array_at(value, {"slices"});
  if (slices.size() > kMaxSlices) return fail("slices: more than " + std::to_string(kMaxSlices));
  for (std::size_t s = 0; s < slices.size(); ++s) {
    const std::string path = "slices[" + std::to_string(s) + "].";
    const std::int64_t domains = int_at(slices[s], {"domainCount"});
    if (domains < 1 || domains > kMaxDomainsPerSlice) return fail(path + "domainCount: expected 1 to 100000");
    const JsonArray& levels = array_at(slices[s], {"valuesPerLevel"});
    if (levels.size() != out.levels.size()) return fail(path + "valuesPerLevel: expected one entry for each level");
    for (std::size_t d = 0; d < static_cast<std::size_t>(domains); ++d) {
      TopologyDomain domain;
      for (const Json& level : levels) {
        auto text = value_at(level, d);
        if (!text) return fail(path + "valuesPerLevel: " + text.error().message);
        domain.values.push_back(std::move(*text));
      }
      auto count = count_at(slices[s], d);
      if (!count) return fail(path + count.error().message);
      domain.count = *count;
      out.domains.push_back(std::move(domain));
    }
  }
  return out;
}

}  // namespace berth::api::kueue
