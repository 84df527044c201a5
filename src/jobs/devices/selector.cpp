#include "jobs/devices/selector.h"

#include <algorithm>
#include <utility>

#include "cel/device_selector.h"

namespace berth::jobs::devices {
namespace {

using cel::Value;
using Entries = std::vector<std::pair<Value, Value>>;

Value text_of(std::string_view text) { return cel::text(std::string(text)); }

// An attribute has one member, named like its type.
Value attribute_value(const Json& attribute) {
  if (!attribute.is_object() || attribute.get_object().empty()) return cel::Null{};
  return cel::from_json(attribute.get_object().begin()->value(), nullptr);
}

// Values by domain and name. A name without a domain belongs to the driver.
class ByDomain {
 public:
  explicit ByDomain(std::string_view driver) : driver_(driver) {}
  void add(std::string_view name, Value value) {
    const auto slash = name.find('/');
    const std::string_view domain = slash == std::string_view::npos ? driver_ : name.substr(0, slash);
    const std::string_view rest = slash == std::string_view::npos ? name : name.substr(slash + 1);
    domains_[std::string(domain)].emplace_back(text_of(rest), std::move(value));
  }
  // Any other domain is an empty map.
  Value take() {
    auto out = std::make_shared<Entries>();
    for (auto& [domain, values] : domains_)
      out->emplace_back(text_of(domain), cel::Map{std::make_shared<const Entries>(std::move(values))});
    static const auto nothing = std::make_shared<const Value>(cel::Map{std::make_shared<const Entries>()});
    return cel::Map{std::move(out), nothing};
  }

 private:
  std::string_view driver_;
  std::map<std::string, Entries> domains_;
};

}  // namespace

Result<Selectors::Compiled> Selectors::compile(const std::string& expression) {
  if (const auto it = known_.find(expression); it != known_.end()) return it->second;
  if (known_.size() >= kMostExpressions) known_.clear();
  return known_.emplace(expression, cel::compile_device_selector(expression)).first->second;
}

Value selectable(const api::Device& device, std::string_view driver) {
  ByDomain attributes(driver), capacity(driver);
  if (device.attributes) {
    for (const auto& attribute : device.attributes->get_object())
      attributes.add(attribute.key(), attribute_value(attribute.value()));
  }
  for (const auto& [name, amount] : device.capacity) capacity.add(name, amount.value);
  auto members = std::make_shared<Entries>();
  members->emplace_back(text_of("driver"), text_of(driver));
  members->emplace_back(text_of("attributes"), attributes.take());
  members->emplace_back(text_of("capacity"), capacity.take());
  members->emplace_back(text_of("allowMultipleAllocations"), device.shared);
  return cel::Map{std::move(members)};
}

Result<bool> selects(const cel::Program& program, const Value& device, std::int64_t& left) {
  if (left <= 0) return fail("the selectors cost too much for the devices of this cluster");
  cel::Budget budget{std::min(left, cel::Budget::kPerRule)};
  const std::int64_t given = budget.left;
  const Value values[] = {device};
  const Value out = cel::run(program, values, budget);
  left -= given - std::max<std::int64_t>(0, budget.left);
  if (const auto* yes = out.as<bool>()) return *yes;
  if (const auto* wrong = out.as<cel::Failure>()) return fail(*wrong->message);
  return fail("is " + std::string(cel::type_name(out)) + ", expected bool");
}

}  // namespace berth::jobs::devices
