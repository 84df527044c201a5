#include "embedded/apiserver/http/negotiate.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace berth::apiserver::http {
namespace {

constexpr std::size_t kMaxClauses = 32;  // clauses of an Accept header; further ones are ignored

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

struct Clause {
  std::string_view type, as, group, version;
  int q = 1000;  // thousandths
};

// Parses "1", "0.8", "0.125" to thousandths; malformed text counts as 1.
int parse_q(std::string_view text) {
  if (text.empty() || (text[0] != '0' && text[0] != '1')) return 1000;
  int value = (text[0] - '0') * 1000;
  if (text.size() > 1 && text[1] == '.') {
    int unit = 100;
    for (const char c : text.substr(2, 3)) {
      if (c < '0' || c > '9') return 1000;
      value += (c - '0') * unit;
      unit /= 10;
    }
  }
  return std::min(value, 1000);
}

Clause parse_clause(std::string_view text) {
  Clause c;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (first) {
      c.type = part;
      first = false;
      continue;
    }
    const std::size_t eq = part.find('=');
    if (eq == std::string_view::npos) continue;
    const std::string_view key = trim(part.substr(0, eq)), value = trim(part.substr(eq + 1));
    if (key == "as") c.as = value;
    if (key == "g") c.group = value;
    if (key == "v") c.version = value;
    if (key == "q") c.q = parse_q(value);
  }
  return c;
}

std::optional<MediaForm> fits(const Clause& c, const Offer& offer) {
  MediaForm form;
  if (c.type == "application/yaml") {
    if (!offer.yaml) return std::nullopt;
    form.syntax = MediaForm::Syntax::kYaml;
  } else if (c.type != "application/json" && c.type != "*/*" && c.type != "application/*") {
    return std::nullopt;
  }
  if (c.as.empty()) return form;
  form.version = c.version;
  if (offer.shapes && c.group == "meta.k8s.io" && (c.version == "v1" || c.version == "v1beta1")) {
    if (c.as == "Table" && offer.tables) {
      form.shape = MediaForm::Shape::kTable;
      return form;
    }
    if (c.as == "PartialObjectMetadata" || c.as == "PartialObjectMetadataList") {
      form.shape = c.as == "PartialObjectMetadata" ? MediaForm::Shape::kMetadata : MediaForm::Shape::kMetadataList;
      return form;
    }
  }
  const bool known = c.version == "v2" || c.version == "v2beta1";
  if (offer.discovery && c.group == "apidiscovery.k8s.io" && known && c.as == "APIGroupDiscoveryList") {
    form.shape = MediaForm::Shape::kDiscovery;
    return form;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MediaForm> negotiate(std::string_view accept, const Offer& offer) {
  if (trim(accept).empty()) return MediaForm{};
  std::vector<Clause> clauses;
  while (!accept.empty() && clauses.size() < kMaxClauses) {
    const std::size_t end = std::min(accept.find(','), accept.size());
    clauses.push_back(parse_clause(trim(accept.substr(0, end))));
    accept.remove_prefix(std::min(end + 1, accept.size()));
  }
  std::stable_sort(clauses.begin(), clauses.end(), [](const Clause& a, const Clause& b) { return a.q > b.q; });
  for (const Clause& c : clauses) {
    if (c.q == 0) continue;
    if (auto form = fits(c, offer)) return form;
  }
  return std::nullopt;
}

std::string content_type(const MediaForm& form) {
  if (form.syntax == MediaForm::Syntax::kYaml) return "application/yaml";
  if (form.shape != MediaForm::Shape::kDiscovery) return "application/json";
  return "application/json;g=apidiscovery.k8s.io;v=" + form.version + ";as=APIGroupDiscoveryList";
}

}  // namespace berth::apiserver::http
