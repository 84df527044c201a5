#include "api/config/device_mappings.h"

#include <algorithm>
#include <map>
#include <set>

#include "api/config/fields.h"
#include "api/field_error.h"

namespace berth::api::config {

bool DeviceClassMapping::maps(std::string_view device_class) const {
  return std::ranges::find(classes, device_class) != classes.end();
}

namespace {

constexpr std::size_t kMostMappings = 16, kMostClasses = 8, kLongestName = 253, kLongestDriver = 63;
constexpr std::size_t kLongestIdentifier = 32, kLongestDomain = 63;

std::string too_many(std::size_t found, std::size_t most) {
  return "has " + std::to_string(found) + " items, expected at most " + std::to_string(most);
}

void check_name(const Fields& fields, std::string_view at, const std::string& name, std::string_view what) {
  if (name.empty()) return fields.error(at, "is missing, expected " + std::string(what));
  if (name.size() > kLongestName) return fields.expected(at, Json(name), "at most 253 characters");
  if (const std::string broken = check_qualified_name(name); !broken.empty())
    fields.expected(at, Json(name), std::string(what) + ": " + broken);
}

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && text.size() <= kLongestIdentifier && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// A C identifier, or a domain and one.
bool is_capacity_name(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return is_identifier(name);
  const std::string_view domain = name.substr(0, slash);
  return domain.size() <= kLongestDomain && check_dns_subdomain(domain).empty() &&
         is_identifier(name.substr(slash + 1));
}

std::string read_selector(Fields selector) {
  std::string out;
  Fields cel = selector.object("cel");
  cel.text("expression", out);
  cel.done();
  selector.done();
  if (out.empty()) selector.error("cel.expression", "is missing, expected a CEL expression about `device`");
  return out;
}

DeviceSource read_source_of(Fields fields, DeviceSource::Kind kind) {
  DeviceSource out;
  out.kind = kind;
  fields.text("name", out.name);
  fields.text("driver", out.driver);
  out.selector = read_selector(fields.object("deviceSelector"));
  fields.done();
  const bool counter = kind == DeviceSource::Kind::kCounter;
  if (counter ? !check_dns_label(out.name).empty() : !is_capacity_name(out.name))
    fields.expected("name", Json(out.name),
                    counter ? "a DNS label, the name of a counter"
                            : "a C identifier, or a domain, a slash and one, the name of a dimension of capacity");
  if (out.driver.size() > kLongestDriver || !check_dns_subdomain(out.driver).empty())
    fields.expected("driver", Json(out.driver), "a DNS subdomain of at most 63 characters, the name of a driver");
  return out;
}

std::vector<DeviceSource> read_sources(Fields& mapping) {
  std::vector<DeviceSource> out;
  for (Fields& item : mapping.objects("sources")) {
    const Fields counter = item.object("counter"), capacity = item.object("capacity");
    item.done();
    if (counter.present() == capacity.present()) {
      item.findings().error(item.path(), "exactly one source type must be set per entry: counter or capacity");
      continue;
    }
    out.push_back(counter.present() ? read_source_of(counter, DeviceSource::Kind::kCounter)
                                    : read_source_of(capacity, DeviceSource::Kind::kCapacity));
  }
  const auto differs = [&](const auto& source) { return source.kind != out.front().kind; };
  if (std::ranges::any_of(out, differs))
    mapping.error("sources", "cannot mix counter and capacity sources in the same mapping");
  return out;
}

DeviceClassMapping read_mapping(Fields& item) {
  DeviceClassMapping out;
  item.text("name", out.name);
  check_name(item, "name", out.name, "the name of a resource");
  if (out.name == "pods") item.error("name", "is pods, which Berth counts itself; expected another name");
  item.texts("deviceClassNames", out.classes);
  if (out.classes.empty()) item.error("deviceClassNames", "at least one device class name is required");
  if (out.classes.size() > kMostClasses) item.error("deviceClassNames", too_many(out.classes.size(), kMostClasses));
  std::set<std::string_view> known;
  for (std::size_t i = 0; i < out.classes.size(); ++i) {
    const std::string at = index_path("deviceClassNames", i);
    check_name(item, at, out.classes[i], "the name of a DeviceClass");
    if (!known.insert(out.classes[i]).second)
      item.error(at, "is " + out.classes[i] + " again; expected each class once");
  }
  out.sources = read_sources(item);
  item.done();
  return out;
}

// Two mappings may share a class when they count different counters of its devices.
std::string clash(const DeviceClassMapping& a, const DeviceClassMapping& b, const std::string& device_class) {
  const auto counter = DeviceSource::Kind::kCounter;
  if (!a.has(counter) || !b.has(counter))
    return "device class " + device_class + " already mapped to resource " + a.name;
  if (a.sources.front().name != b.sources.front().name) return {};
  return "device class " + device_class + " already has a counter source for counter \"" + a.sources.front().name + '"';
}

void check_against_others(const Fields& item, const DeviceClassMappings& before, const DeviceClassMapping& mapping) {
  for (const auto& other : before) {
    if (other.name == mapping.name)
      item.error("name", "is " + mapping.name + ", as of another mapping; expected each name once");
    for (std::size_t i = 0; i < mapping.classes.size(); ++i) {
      if (!other.maps(mapping.classes[i])) continue;
      if (const std::string why = clash(other, mapping, mapping.classes[i]); !why.empty())
        item.error(index_path("deviceClassNames", i), why);
    }
  }
}

}  // namespace

DeviceClassMappings read_device_mappings(Fields& resources) {
  DeviceClassMappings out;
  auto items = resources.objects("deviceClassMappings");
  if (items.size() > kMostMappings) {
    resources.error("deviceClassMappings", too_many(items.size(), kMostMappings));
    while (items.size() > kMostMappings) items.pop_back();
  }
  for (Fields& item : items) {
    DeviceClassMapping mapping = read_mapping(item);
    check_against_others(item, out, mapping);
    out.push_back(std::move(mapping));
  }
  return out;
}

}  // namespace berth::api::config
