#include "journal/event_codec.h"

#include <variant>

#include "api/meta.h"
#include "base/checksum.h"
#include "base/overloaded.h"

namespace berth::journal {
namespace {

using api::kueue::Workload;
using engine::Event;

// Objects that are known by name, and the events that say they are gone.
template <typename Seen>
concept OfObject = requires(const Seen& e) { e.object; };
template <typename Seen>
using ObjectOf = std::remove_const_t<typename decltype(Seen::object)::element_type>;

std::string_view ns_of(const api::Node&) { return {}; }
std::string_view name_of(const api::Node& node) { return node.name; }
std::string_view ns_of(const api::kueue::PodPlacement&) { return {}; }
std::string_view name_of(const api::kueue::PodPlacement& pod) { return pod.uid; }
std::string_view ns_of(const auto& object) { return object.meta.ns; }
std::string_view name_of(const auto& object) { return object.meta.name; }

std::uint64_t key_of(std::string_view ns, std::string_view name) { return Checksum().add(ns).add(name).value(); }

template <typename T>
void put_object(Out& out, WrittenVersions<T>& versions, const Ptr<T>& object) {
  const auto [it, fresh] = versions.by_key.try_emplace(key_of(ns_of(*object), name_of(*object)));
  auto& last = it->second;
  if (!fresh) {
    out.number(std::uint64_t{last.number} << 1 | 1);
    if (last.object == object) {
      out.number(0);  // no member differs
    } else {
      put_change(out, *last.object, *object);
    }
    last.object = object;
    return;
  }
  last.object = object;
  if (versions.free.empty()) {
    last.number = static_cast<std::uint32_t>(versions.by_key.size() - 1);
  } else {
    last.number = versions.free.back();
    versions.free.pop_back();
  }
  out.number(std::uint64_t{last.number} << 1);
  put(out, *object);
}

template <typename T>
Ptr<T> get_object(In& in, ReadVersions<T>& versions) {
  const std::uint64_t number = in.number();
  const std::size_t at = static_cast<std::size_t>(number >> 1);
  std::shared_ptr<T> object;
  if ((number & 1) != 0) {
    if (at >= versions.size() || !versions[at]) return in.wrong("it changes an object that was not stored"), nullptr;
    object = std::make_shared<T>(*versions[at]);
    get_change(in, *object);
  } else {
    if (at > versions.size()) return in.wrong("it numbers an object wrongly"), nullptr;
    object = std::make_shared<T>();
    get(in, *object);
    if (at == versions.size()) versions.emplace_back();
  }
  if (!in.ok()) return nullptr;
  versions[at] = object;
  return object;
}

// The object that an event names: its number plus 1, or 0 and the name.
template <typename T>
const typename WrittenVersions<T>::Last* find_named(const WrittenVersions<T>& versions, std::string_view ns,
                                                    std::string_view name) {
  const auto it = versions.by_key.find(key_of(ns, name));
  if (it == versions.by_key.end()) return nullptr;
  const T& object = *it->second.object;
  return ns_of(object) == ns && name_of(object) == name ? &it->second : nullptr;
}

template <typename T>
void put_name(Out& out, const WrittenVersions<T>& versions, std::string_view ns, std::string_view name) {
  if (const auto* known = find_named(versions, ns, name)) return out.number(std::uint64_t{known->number} + 1);
  out.number(0);
  out.text(ns);
  out.text(name);
}

// Nothing about the object follows: its number may be given to another.
template <typename T>
void put_gone(Out& out, WrittenVersions<T>& versions, std::string_view ns, std::string_view name) {
  put_name(out, versions, ns, name);
  if (const auto* known = find_named(versions, ns, name)) {
    versions.free.push_back(known->number);
    versions.by_key.erase(key_of(ns, name));
  }
}

struct Name {
  std::string ns, name;
};

template <typename T>
Name get_name(In& in, ReadVersions<T>& versions, bool gone = false) {
  const std::uint64_t number = in.number();
  if (number == 0) {
    Name out;
    out.ns = in.text();
    out.name = in.text();
    return out;
  }
  if (number > versions.size() || !versions[static_cast<std::size_t>(number - 1)]) {
    in.wrong("it names an object that was not stored");
    return {};
  }
  auto& known = versions[static_cast<std::size_t>(number - 1)];
  Name out{std::string(ns_of(*known)), std::string(name_of(*known))};
  if (gone) known = nullptr;
  return out;
}

// The kind of object that a Gone event is about.
template <typename Gone>
struct Of;
template <>
struct Of<engine::ClusterQueueGone> : std::type_identity<api::kueue::ClusterQueue> {};
template <>
struct Of<engine::CohortGone> : std::type_identity<api::kueue::Cohort> {};
template <>
struct Of<engine::LocalQueueGone> : std::type_identity<api::kueue::LocalQueue> {};
template <>
struct Of<engine::ResourceFlavorGone> : std::type_identity<api::kueue::ResourceFlavor> {};
template <>
struct Of<engine::AdmissionCheckGone> : std::type_identity<api::kueue::AdmissionCheck> {};
template <>
struct Of<engine::TopologyGone> : std::type_identity<api::kueue::Topology> {};
template <>
struct Of<engine::NodeGone> : std::type_identity<api::Node> {};
template <>
struct Of<engine::PodGone> : std::type_identity<api::kueue::PodPlacement> {};
template <typename Gone>
concept ObjectGone = requires { typename Of<Gone>::type; };

// The members of a Gone event: most have a name only.
auto gone_name(auto& e) {
  if constexpr (requires { e.uid; }) {
    return std::tie(e.uid);
  } else {
    return std::tie(e.name);
  }
}

struct Writer {
  Out& out;
  AllVersions<WrittenVersions>& versions;

  template <typename T>
  WrittenVersions<T>& of() const {
    return std::get<WrittenVersions<T>>(versions);
  }

  template <OfObject E>
  void operator()(const E& e) const {
    put_object(out, of<ObjectOf<E>>(), e.object);
  }
  template <ObjectGone E>
  void operator()(const E& e) const {
    using Object = typename Of<E>::type;
    if constexpr (requires { e.ns; }) {
      put_gone(out, of<Object>(), e.ns, e.name);
    } else {
      put_gone(out, of<Object>(), "", std::get<0>(gone_name(e)));
    }
  }
  void operator()(const engine::WorkloadGone& e) const {
    const auto* known = find_named(of<Workload>(), e.ns, e.name);
    const bool uid_known = known != nullptr && known->object->meta.uid == e.uid;
    out.byte(uid_known ? 1 : 0);
    if (!uid_known) out.text(e.uid);
    put_gone(out, of<Workload>(), e.ns, e.name);
  }
  void operator()(const engine::JobReported& e) const {
    put_name(out, of<Workload>(), e.ns, e.name);
    put(out, e.report);
  }
  void operator()(const engine::CheckReported& e) const {
    put_name(out, of<Workload>(), e.ns, e.name);
    put(out, e.state);
  }
  void operator()(const engine::NamespaceGone& e) const { out.text(e.name); }
  void operator()(const engine::RuntimeClassGone& e) const { out.text(e.name); }
  void operator()(const engine::TimePassed&) const {}
  void operator()(const engine::Synced&) const {}
  template <Described E>
    requires(!ObjectGone<E>)
  void operator()(const E& e) const {
    put(out, e);
  }
};

struct Reader {
  In& in;
  AllVersions<ReadVersions>& versions;

  template <typename T>
  ReadVersions<T>& of() const {
    return std::get<ReadVersions<T>>(versions);
  }

  template <OfObject E>
  void operator()(E& e) const {
    e.object = get_object(in, of<ObjectOf<E>>());
  }
  template <ObjectGone E>
  void operator()(E& e) const {
    Name found = get_name(in, of<typename Of<E>::type>(), true);
    if constexpr (requires { e.ns; }) {
      e.ns = std::move(found.ns);
      e.name = std::move(found.name);
    } else {
      std::get<0>(gone_name(e)) = std::move(found.name);
    }
  }
  void operator()(engine::WorkloadGone& e) const {
    const bool uid_known = in.byte() != 0;
    if (!uid_known) e.uid = in.text();
    // The number tells the workload before it is given back.
    In ahead = in;
    const std::uint64_t number = ahead.number();
    if (uid_known && number > 0 && number <= of<Workload>().size() && of<Workload>()[number - 1])
      e.uid = of<Workload>()[static_cast<std::size_t>(number - 1)]->meta.uid;
    Name found = get_name(in, of<Workload>(), true);
    e.ns = std::move(found.ns);
    e.name = std::move(found.name);
  }
  template <typename E>
  void about_workload(E& e) const {
    Name found = get_name(in, of<Workload>());
    e.ns = std::move(found.ns);
    e.name = std::move(found.name);
  }
  void operator()(engine::JobReported& e) const {
    about_workload(e);
    get(in, e.report);
  }
  void operator()(engine::CheckReported& e) const {
    about_workload(e);
    get(in, e.state);
  }
  void operator()(engine::NamespaceGone& e) const { e.name = in.text(); }
  void operator()(engine::RuntimeClassGone& e) const { e.name = in.text(); }
  void operator()(engine::TimePassed&) const {}
  void operator()(engine::Synced&) const {}
  template <Described E>
    requires(!ObjectGone<E>)
  void operator()(E& e) const {
    get(in, e);
  }
};

template <std::size_t I = 0>
Event make_event(std::size_t kind, const Reader& read) {
  if constexpr (I < kEventKinds) {
    if (kind != I) return make_event<I + 1>(kind, read);
    Event event(std::in_place_index<I>);
    read(std::get<I>(event));
    return event;
  } else {
    read.in.wrong("a newer Berth wrote it: it is an event of an unknown kind");
    return engine::TimePassed{};
  }
}

bool turned_true(const api::Conditions& before, const api::Conditions& after, std::string_view type) {
  return api::is_true(after, type) && !api::is_true(before, type);
}

void put_effect(Out& out, const engine::Effect& effect) {
  out.byte(static_cast<std::uint8_t>(effect.index()));
  std::visit(Overloaded{
                 [&](const engine::WriteWorkloadStatus& e) {
                   out.number(e.write);
                   out.text(e.base->meta.uid);
                   out.text(e.base->meta.resource_version);
                   put_change(out, e.base->status, e.status);
                 },
                 [&](const engine::DeactivateWorkload& e) {
                   out.number(e.write);
                   out.text(e.base->meta.uid);
                   out.text(e.base->meta.resource_version);
                 },
                 [&](const engine::ExpireWorkload& e) {
                   out.text(e.workload->meta.uid);
                   out.text(e.workload->meta.resource_version);
                   out.byte(e.with_job ? 1 : 0);
                 },
                 [&](const auto& e) { put(out, e); },
             },
             effect);
}

}  // namespace

std::string_view name(MonkeyAction action) {
  switch (action) {
    case MonkeyAction::kNoted:
      return "noted";
    case MonkeyAction::kAdmitted:
      return "admitted";
    case MonkeyAction::kReserved:
      return "reserved quota for";
    case MonkeyAction::kEvicted:
      return "evicted";
    case MonkeyAction::kReleased:
      return "released the quota of";
    case MonkeyAction::kFinished:
      return "finished";
    case MonkeyAction::kDeactivated:
      return "deactivated";
    case MonkeyAction::kExpired:
      return "deleted";
  }
  return "";
}

MonkeyAction action_of(const engine::WriteWorkloadStatus& write) {
  const auto &before = write.base->status.conditions, &after = write.status.conditions;
  if (turned_true(before, after, api::kueue::kFinished)) return MonkeyAction::kFinished;
  if (turned_true(before, after, api::kueue::kEvicted)) return MonkeyAction::kEvicted;
  if (turned_true(before, after, api::kueue::kAdmitted)) return MonkeyAction::kAdmitted;
  if (turned_true(before, after, api::kueue::kQuotaReserved)) return MonkeyAction::kReserved;
  if (write.base->status.admission && !write.status.admission) return MonkeyAction::kReleased;
  return MonkeyAction::kNoted;
}

std::vector<Decision> decisions_of(const engine::Effects& effects) {
  std::vector<Decision> out;
  for (const auto& effect : effects) {
    if (const auto* write = std::get_if<engine::WriteWorkloadStatus>(&effect)) {
      const MonkeyAction action = action_of(*write);
      if (action != MonkeyAction::kNoted) out.push_back({action, api::object_key(write->base->meta), write->write});
    } else if (const auto* off = std::get_if<engine::DeactivateWorkload>(&effect)) {
      out.push_back({MonkeyAction::kDeactivated, api::object_key(off->base->meta), off->write});
    } else if (const auto* expired = std::get_if<engine::ExpireWorkload>(&effect)) {
      out.push_back({MonkeyAction::kExpired, api::object_key(expired->workload->meta), 0});
    }
  }
  return out;
}

std::uint64_t checksum_of(const engine::Effects& effects, std::string& scratch) {
  scratch.clear();
  Out out{scratch};
  for (const auto& effect : effects) put_effect(out, effect);
  return berth::checksum_of(std::string_view(scratch));
}

void EventEncoder::put_event(Out& out, const Event& event) {
  out.byte(static_cast<std::uint8_t>(event.index()));
  std::visit(Writer{out, versions_}, event);
}

Event EventDecoder::get_event(In& in) { return make_event(in.byte(), Reader{in, versions_}); }

}  // namespace berth::journal
