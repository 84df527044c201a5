// Small integers that stand for names. An id is an index into a dense table of its own kind. Decisions never order by
// id (ids follow the order of arrival); they order by name, time and UID.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace berth::engine {

template <typename Tag>
struct Id {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}
  constexpr bool valid() const { return value != kNone; }
  constexpr std::size_t index() const { return value; }
  constexpr auto operator<=>(const Id&) const = default;
};

using FlavorId = Id<struct FlavorTag>;
using ResourceId = Id<struct ResourceTag>;
using FlavorResourceId = Id<struct FlavorResourceTag>;  // a (flavor, resource) pair named by a quota or claim
using QuotaNodeId = Id<struct QuotaNodeTag>;            // a cluster queue or a cohort in the quota tree
using WorkloadId = Id<struct WorkloadTag>;              // a slot; reused after leave()

}  // namespace berth::engine

template <typename Tag>
struct std::hash<berth::engine::Id<Tag>> {
  std::size_t operator()(berth::engine::Id<Tag> id) const { return std::hash<std::uint32_t>()(id.value); }
};
