// Every event comes back from its bytes: random objects, and changes of them.
#include "journal/event_codec.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json.h"

namespace berth::journal::event_codec_test {
namespace {

using engine::Event;

// Fills any value of fields.h with random content; empty often enough.
class Filler {
 public:
  explicit Filler(unsigned seed) : random_(seed) {}

  int pick(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }

  template <typename T>
  void fill(T& value) {
    if constexpr (std::same_as<T, std::string>) {
      value = std::string(static_cast<std::size_t>(pick(3)), static_cast<char>('a' + pick(3)));
    } else if constexpr (std::same_as<T, Time>) {
      value = Time(std::chrono::seconds(pick(2'000'000'000)) + Duration(pick(1)));
    } else if constexpr (std::same_as<T, Duration>) {
      value = Duration(pick(1000) - 500);
    } else if constexpr (std::same_as<T, bool>) {
      value = pick(1) == 1;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(pick(static_cast<int>(kLast<T>)));
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(pick(1) == 0 ? 0 : pick(2'000'000'000) - (std::is_signed_v<T> ? 1'000'000'000 : 0));
    } else if constexpr (std::same_as<T, Quantity>) {
      static const char* const kTexts[] = {"0", "1", "100m", "-3", "2Gi", "1e3", "9999999999999999999999", "5n"};
      value = Quantity::parse(kTexts[pick(7)]).value();
    } else if constexpr (std::same_as<T, api::LabelSelector>) {
      std::vector<api::LabelRequirement> requirements;
      fill(requirements);
      value = pick(3) == 0 ? api::LabelSelector::nothing() : api::LabelSelector::all_of(std::move(requirements));
    } else if constexpr (std::same_as<T, JsonPtr>) {
      value = pick(2) == 0 ? nullptr : documents_[static_cast<std::size_t>(pick(2))];
    } else if constexpr (Optional<T>) {
      value = T();
      if (pick(1) == 0) return;
      ValueOf<T> inner{};
      fill(inner);
      value = T(std::move(inner));
    } else if constexpr (Pointer<T>) {
      value = nullptr;
      if (pick(1) == 0) return;
      auto inner = std::make_shared<std::remove_const_t<typename T::element_type>>();
      fill(*inner);
      value = inner;
    } else if constexpr (List<T>) {
      value.resize(static_cast<std::size_t>(pick(2)));
      for (auto& each : value) fill(each);
    } else if constexpr (Map<T>) {
      value.clear();
      for (int i = pick(2); i > 0; --i) {
        typename T::key_type key{};
        fill(key);
        fill(value[key]);
      }
    } else {
      const auto parts = fields(value);
      each_field(FieldIndexes<T>(), [&](auto i) { fill(std::get<i>(parts)); });
    }
  }

  // Changes some members.
  template <typename T>
  void change(T& value) {
    const auto parts = fields(value);
    each_field(FieldIndexes<T>(), [&](auto i) {
      if (pick(3) == 0) fill(std::get<i>(parts));
    });
  }

 private:
  std::mt19937 random_;
  std::vector<JsonPtr> documents_ = {
      std::make_shared<const Json>(parse_json(R"({"spec":{"containers":[{"name":"c","n":1}]}})").value()),
      std::make_shared<const Json>(parse_json(R"({})").value()),
      std::make_shared<const Json>(parse_json(R"({"b":1,"a":[true,null,"x"]})").value())};
};

// Two events are the same when a fresh encoder writes the same bytes for both.
std::string whole(const Event& event) {
  std::string bytes;
  Out out{bytes};
  EventEncoder().put_event(out, event);
  return bytes;
}

class Wire {
 public:
  Event send(const Event& event) {
    std::string bytes;
    Out out{bytes, kEpoch, &written_};
    encoder_.put_event(out, event);
    size_ = bytes.size();
    In in(bytes, kEpoch, &read_);
    Event came = decoder_.get_event(in);
    EXPECT_TRUE(in.ok()) << in.error();
    EXPECT_TRUE(in.at_end());
    return came;
  }
  std::size_t size() const { return size_; }  // of the last event, in bytes

 private:
  static constexpr Time kEpoch{std::chrono::seconds(1'700'000'000)};
  KnownDocuments written_, read_;
  EventEncoder encoder_;
  EventDecoder decoder_;
  std::size_t size_ = 0;
};

template <std::size_t... I>
Event random_event(std::size_t kind, Filler& filler, std::index_sequence<I...>) {
  Event event;
  const auto make = [&](auto i) {
    if (kind != i) return;
    using E = std::variant_alternative_t<i, Event>;
    E one{};
    if constexpr (requires { one.object; }) {
      auto object = std::make_shared<std::remove_const_t<typename decltype(one.object)::element_type>>();
      filler.fill(*object);
      one.object = object;
    } else if constexpr (Described<E>) {
      filler.fill(one);
    } else {
      if constexpr (requires { one.ns; }) filler.fill(one.ns);
      if constexpr (requires { one.name; }) filler.fill(one.name);
      if constexpr (requires { one.uid; }) filler.fill(one.uid);
      if constexpr (requires { one.report; }) filler.fill(one.report);
      if constexpr (requires { one.state; }) filler.fill(one.state);
    }
    event = std::move(one);
  };
  (make(std::integral_constant<std::size_t, I>()), ...);
  return event;
}

TEST(EventCodec, EveryEventComesBack) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Filler filler(seed);
    Wire wire;
    for (int i = 0; i < 400; ++i) {
      const Event event = random_event(static_cast<std::size_t>(filler.pick(kEventKinds - 1)), filler,
                                       std::make_index_sequence<kEventKinds>());
      ASSERT_EQ(whole(wire.send(event)), whole(event)) << "seed " << seed << ", event kind " << event.index();
    }
  }
}

TEST(EventCodec, AChangedWorkloadCostsItsChange) {
  Filler filler(7);
  Wire wire;
  auto workload = std::make_shared<api::kueue::Workload>();
  filler.fill(*workload);
  workload->meta.name = "w";
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(whole(wire.send(engine::WorkloadSeen{workload})), whole(engine::WorkloadSeen{workload}));
    workload = std::make_shared<api::kueue::Workload>(*workload);
    filler.change(*workload);
    workload->meta.name = "w";
  }
  wire.send(engine::WorkloadSeen{workload});
  workload = std::make_shared<api::kueue::Workload>(*workload);
  workload->meta.resource_version = "123456";
  wire.send(engine::WorkloadSeen{workload});
  EXPECT_LE(wire.size(), 16u);
  wire.send(engine::WorkloadSeen{workload});
  EXPECT_LE(wire.size(), 4u);
}

TEST(EventCodec, AnObjectThatIsGoneGivesItsNumberBack) {
  Wire wire;
  for (int i = 0; i < 300; ++i) {
    auto node = std::make_shared<api::Node>();
    node->name = "n" + std::to_string(i);
    wire.send(engine::NodeSeen{node});
    EXPECT_LE(wire.size(), 12u);
    const Event gone = engine::NodeGone{node->name};
    ASSERT_EQ(whole(wire.send(gone)), whole(gone));
    EXPECT_LE(wire.size(), 3u);
  }
}

TEST(EventCodec, AnyBytesAreRefusedOrRead) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(static_cast<std::size_t>(random() % 60), '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 4 == 0 ? random() : random() % 30);
    KnownDocuments documents;
    EventDecoder decoder;
    In in(bytes, {}, &documents);
    while (in.ok() && !in.at_end()) decoder.get_event(in);
  }
}

TEST(EventCodec, AMemberOfANewerVersionIsAnError) {
  std::string bytes;
  Out out{bytes};
  out.number(std::uint64_t{1} << kFields<api::kueue::LocalQueue>);
  api::kueue::LocalQueue queue;
  In in(bytes, {}, nullptr);
  get(in, queue);
  EXPECT_NE(in.error().find("newer Berth"), std::string::npos);
}

}  // namespace
}  // namespace berth::journal::event_codec_test
