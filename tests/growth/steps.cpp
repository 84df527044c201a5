#include "growth/steps.h"

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>

// The functions below run at every step, so they call nothing that counts.
#define BERTH_UNCOUNTED __attribute__((no_sanitize("coverage")))

namespace berth::growth {
namespace {

struct Place {
  std::uint64_t steps;
  const void* address;
};

constexpr std::size_t kMostPlaces = 1u << 20;  // of all edges of the program, and the calls below
constexpr std::size_t kMostCalls = 1u << 16;   // that move memory; a power of two
constexpr std::size_t kBlock = 16;             // bytes that are moved in one step

// Without optimisation an index of std::array is a call.
Place places[kMostPlaces];
PlaceId reached[kMostPlaces];
PlaceId calls[kMostCalls];  // by the address that the call returns to: an open hash table
std::uint32_t edges = 0, places_known = 1, places_reached = 0;
bool counting = false;

BERTH_UNCOUNTED void take_steps(PlaceId id, const void* address, std::uint64_t steps) {
  Place& place = places[id];
  if (place.steps == 0) {
    place.address = address;
    reached[places_reached++] = id;
  }
  place.steps += steps;
}

BERTH_UNCOUNTED PlaceId place_of_call(const void* address) {
  auto slot = (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15u) >> 48;
  for (;; slot = (slot + 1) % kMostCalls) {
    PlaceId& id = calls[slot];
    if (id == 0) {
      if (places_known == kMostPlaces) std::abort();
      id = places_known++;
      places[id].address = address;
    }
    if (places[id].address == address) return id;
  }
}

BERTH_UNCOUNTED inline void move_memory(const void* address, std::size_t bytes) {
  if (counting) take_steps(place_of_call(address), address, bytes / kBlock + 1);
}

std::uintptr_t load_address() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;
        return 1;  // the first is the program itself
      },
      &base);
  return base;
}

}  // namespace

extern "C" {
void __sanitizer_cov_trace_pc_guard_init(std::uint32_t* begin, std::uint32_t* end);
void __sanitizer_cov_trace_pc_guard(std::uint32_t* guard);
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);
int __real_memcmp(const void* a, const void* b, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes);
void* __wrap_memmove(void* to, const void* from, std::size_t bytes);
void* __wrap_memset(void* to, int value, std::size_t bytes);
int __wrap_memcmp(const void* a, const void* b, std::size_t bytes);

BERTH_UNCOUNTED void __sanitizer_cov_trace_pc_guard_init(std::uint32_t* begin, std::uint32_t* end) {
  if (begin == end || *begin != 0) return;
  for (std::uint32_t* guard = begin; guard < end; ++guard) *guard = places_known++;
  edges = places_known;
  if (edges >= kMostPlaces) std::abort();
}

BERTH_UNCOUNTED void __sanitizer_cov_trace_pc_guard(std::uint32_t* guard) {
  if (!counting) return;
  Place& place = places[*guard];
  if (place.steps++ > 0) return;
  place.address = __builtin_return_address(0);
  reached[places_reached++] = *guard;
}

BERTH_UNCOUNTED void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  move_memory(__builtin_return_address(0), bytes);
  return __real_memcpy(to, from, bytes);
}
BERTH_UNCOUNTED void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  move_memory(__builtin_return_address(0), bytes);
  return __real_memmove(to, from, bytes);
}
BERTH_UNCOUNTED void* __wrap_memset(void* to, int value, std::size_t bytes) {
  move_memory(__builtin_return_address(0), bytes);
  return __real_memset(to, value, bytes);
}
BERTH_UNCOUNTED int __wrap_memcmp(const void* a, const void* b, std::size_t bytes) {
  move_memory(__builtin_return_address(0), bytes);
  return __real_memcmp(a, b, bytes);
}
}

StepCounts count_steps(const std::function<void()>& run) {
  places_reached = 0;
  counting = true;
  run();
  counting = false;
  StepCounts out;
  out.reserve(places_reached);
  for (std::uint32_t i = 0; i < places_reached; ++i) {
    out.emplace(reached[i], places[reached[i]].steps);
    places[reached[i]].steps = 0;
  }
  return out;
}

constexpr std::string_view kOfSorts[] = {"std::__unguarded_partition", "std::__adjust_heap", "std::__introsort_loop",
                                         "basic_string_view<char>::compare", "std::char_traits<char>::compare"};

std::string describe_places(const std::vector<PlaceId>& chosen) {
  std::string command = "addr2line -Cfpe /proc/" + std::to_string(getpid()) + "/exe";
  for (const PlaceId place : chosen) {
    const auto address = reinterpret_cast<std::uintptr_t>(places[place].address) - load_address() - 1;
    command += fmt::format(" {:#x}", address);
  }
  std::set<std::string> ours, of_libraries;
  std::array<char, 4096> text{};
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  bool answered = false;
  while (pipe != nullptr && std::fgets(text.data(), text.size(), pipe.get()) != nullptr) {
    const std::string line = text.data();
    answered = true;
    if (std::ranges::any_of(kOfSorts, [&](std::string_view part) { return line.find(part) != std::string::npos; }))
      continue;
    (line.find("/src/") != std::string::npos ? ours : of_libraries).insert(line);
  }
  std::string out;
  for (const std::string& line : ours.empty() ? of_libraries : ours) out += line;
  return answered ? out : command;
}

namespace {

std::uint64_t at(const StepCounts& counts, PlaceId place) {
  const auto found = counts.find(place);
  return found == counts.end() ? 0 : found->second;
}

// Whether steps grow with the square of the size, by those for half of `size`, for `size` and for its double.
// The last doubling must take more than `tenfold` tenths of the steps that the one before took: 20 is linear, 40
// square.
bool grows_faster(std::uint64_t half, std::uint64_t one, std::uint64_t two, std::size_t size, std::uint64_t tenfold) {
  if (two <= one || one < half) return false;
  const std::uint64_t excess = two > 2 * one ? two - 2 * one : 0;
  return 10 * (two - one) > tenfold * (one - half) && excess > size * size / 4;
}

}  // namespace

std::vector<PlaceId> places_that_grow_faster(const std::function<StepCounts(std::size_t size)>& steps,
                                             std::size_t first_size) {
  steps(first_size);  // fills what is made once
  StepCounts half = steps(first_size), one = steps(2 * first_size);
  std::optional<std::vector<PlaceId>> suspects;  // nullopt: all places
  std::size_t size = 2 * first_size;
  for (const std::uint64_t tenfold : {30, 34, 36}) {
    StepCounts two = steps(2 * size);
    std::vector<PlaceId> left;
    for (const auto& [place, count] : two) {
      if (suspects && !std::ranges::binary_search(*suspects, place)) continue;
      if (grows_faster(at(half, place), at(one, place), count, size, tenfold)) left.push_back(place);
    }
    if (left.empty()) return left;
    std::ranges::sort(left);
    suspects = std::move(left);
    half = std::exchange(one, std::move(two));
    size *= 2;
  }
  return *suspects;
}

}  // namespace berth::growth
