// What nodes have of devices, by kind of request, and what claims take of them: what places in a topology count
// (docs/devices.md, "Places"). Updated one object at a time; take_changes() says what to tell the engine.
//
// On a node, the amount of a kind is the number of its devices that are free, plus what the claims there take of it
// according to `Taken`. So the places of a workload and the claims of its pods never count twice, whatever became of
// the devices.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "api/core/pod_resources.h"
#include "api/devices/types.h"
#include "jobs/devices/inventory.h"
#include "jobs/devices/kind.h"
#include "jobs/devices/packing.h"
#include "jobs/devices/selector.h"

namespace berth::jobs::devices {

class Supply {
 public:
  // More kinds at once are not counted: places do not look at the devices of further ones.
  static constexpr std::size_t kMostKinds = 256;
  // What counts as the number of free devices where one can be given out as often as one likes.
  static constexpr std::int64_t kUnlimited = 1'000'000;

  // `inventory` refers to maps that must outlive this object. `taints`: untolerated taints of devices exclude them.
  Supply(Inventory inventory, bool taints) : inventory_(inventory), taints_(taints) {}
  bool taints() const { return taints_; }

  // --- What is known.
  void set_node(const std::string& name, const api::StringMap& labels);
  void remove_node(const std::string& name);
  void slices_changed() { stale_ = true; }
  void classes_changed();
  // A kind is counted as long as somebody uses it.
  void use(const Kind& kind);
  void unuse(const std::string& kind);
  // The pod that has a claim. `node`: "" is not known. `placed`: the places of its workload count its devices, though
  // it does not name the workload.
  struct Consumer {
    std::string ns, workload, node;
    bool placed = false;
    bool operator==(const Consumer&) const = default;
  };
  void set_claim(const std::shared_ptr<const api::ResourceClaim>& claim, Consumer consumer);
  void remove_claim(const std::string& uid);

  // --- What follows.
  struct Taken {
    std::string claim;  // its UID
    Consumer consumer;  // with the node that has the devices
    api::ResourceList amounts;
    bool operator==(const Taken&) const = default;
  };
  struct Changes {
    std::vector<std::pair<std::string, api::ResourceList>> nodes;  // all that the node has; by name
    std::vector<Taken> claims;                                     // without amounts: nothing any more; by claim
    bool needs = false;                                            // what each_of() returns
  };
  Changes take_changes();
  bool changed() const { return stale_ || other_kinds_ || !dirty_nodes_.empty() || !dirty_claims_.empty(); }

  // What a device of a kind needs on its node: one of the kind and one of each kind that has all of its devices, and
  // what every device of the kind takes at least of counters or capacity. As of the last take_changes(); empty: the
  // kind is not counted.
  const api::ResourceList& each_of(const std::string& kind) const;

 private:
  using DeviceId = std::tuple<std::string, std::string, std::string>;  // driver, pool, name
  using DeviceName = std::tuple<std::string_view, std::string_view, std::string_view>;
  using SetId = DeviceId;  // driver, pool, counter set
  using Bits = std::vector<std::uint64_t>;
  struct Before {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return DeviceName(std::get<0>(a), std::get<1>(a), std::get<2>(a)) <
             DeviceName(std::get<0>(b), std::get<1>(b), std::get<2>(b));
    }
  };
  struct Entry {  // a device that can be allocated
    const api::ResourceSlice* slice = nullptr;
    const api::Device* device = nullptr;
    const api::DevicePlace& place() const { return device->place ? *device->place : slice->place; }
    DeviceName name() const { return {slice->driver, slice->pool, device->name}; }
  };
  struct State {  // of a kind
    Kind kind;
    std::size_t users = 0;
    bool any = false, shared = false;  // some device is of it; some such device is shared
    Bits devices;                      // by entry; empty: nobody has looked yet
    api::ResourceList each;
    // What selectors said of the devices of a slice; kept while the slice is the same.
    std::map<std::shared_ptr<const api::ResourceSlice>, std::vector<bool>> known;
  };
  struct Use {  // of a device
    int times = 0;
    api::ResourceList capacity;
  };
  struct Claim {
    std::shared_ptr<const api::ResourceClaim> object;
    Consumer consumer;
    Taken reported;  // without amounts: nothing was told
  };
  struct Result {  // a device that is allocated
    DeviceId device;
    std::string request;  // its name, without that of the alternative
    bool shared = false;
    api::ResourceList capacity;  // of a shared one
  };

  static bool has(const Bits& bits, std::size_t i) { return (bits[i / 64] >> (i % 64) & 1) != 0; }
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t find_entry(const DeviceId& device) const;  // kNone: no complete slice has it
  static std::vector<Result> results_of(const api::ResourceClaim& claim);
  static std::string part(std::string_view driver, std::string_view name);

  // --- All devices anew (supply_devices.cpp).
  void look_anew();
  void look_at_slice(const std::shared_ptr<const api::ResourceSlice>& slice);
  void match(State& state);
  std::vector<bool> match(const Kind& kind, const api::ResourceSlice& slice);
  bool find_needs();  // returns whether they changed
  api::ResourceList parts_of(const State& state) const;

  void count(const Claim& claim, int sign);  // its devices and their counters are in use, or no longer
  void mark_nodes_of(const Claim& claim);
  void mark_all_nodes();
  Taken taken(const std::string& uid, const Claim& claim) const;
  std::vector<std::size_t> entries_on(const std::string& node, const api::StringMap& labels) const;
  api::ResourceList amounts_of(const std::string& node, const api::StringMap& labels) const;
  std::int64_t free_of(const State& state, const std::vector<std::size_t>& entries) const;
  std::int64_t times_free(const State& state, const Entry& entry) const;
  Quantity left_of(const SetId& set, const std::string& counter) const;
  void add_parts(const std::vector<std::size_t>& entries, api::ResourceList& out) const;

  const Inventory inventory_;
  const bool taints_;
  Selectors selectors_;
  std::map<std::string, State> kinds_;                    // by name
  std::map<std::string, api::StringMap> nodes_;           // their labels, by name
  std::map<std::string, api::ResourceList> reported_;     // by node; none without devices
  std::map<std::string, Claim> claims_;                   // by UID; only those with an allocation
  std::map<std::string, std::set<std::string>> on_node_;  // claims that take something there, by node
  bool stale_ = false;                                    // slices or classes changed: look at all devices
  bool other_kinds_ = false;                              // look at the devices for new kinds only
  std::set<std::string> dirty_nodes_, dirty_claims_;

  // --- As of the last look.
  std::vector<std::shared_ptr<const api::ResourceSlice>> slices_;  // complete ones: entries point into them
  std::vector<Entry> entries_;
  std::map<std::string_view, std::vector<std::size_t>> local_;  // entries of one node, by its name
  std::vector<std::size_t> roaming_;                            // entries that several nodes reach
  std::vector<std::uint32_t> by_name_;                          // entries, by driver, pool and name
  std::map<SetId, const api::ResourceList*, Before> counters_;
  std::set<std::string, std::less<>> parts_;  // that some kind needs
  // --- By the claims.
  std::map<DeviceId, Use, Before> used_;
  std::map<SetId, api::ResourceList, Before> counters_used_;
};

}  // namespace berth::jobs::devices
