#include "base/metrics_text.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace berth {
namespace {

constexpr int kLeastExponent = -4, kMostExponent = 5;  // numbers outside this range are written with an exponent

void add_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || (quotes && c == '"')) {
      out.append(1, '\\').append(1, c);
    } else {
      out += c;
    }
  }
}

constexpr double kWholeBelow = 1e6;  // whole numbers below this are written without an exponent

void add_number(std::string& out, double value) {
  char text[32];
  if (value >= 0 && value < kWholeBelow && value == static_cast<double>(static_cast<std::int64_t>(value)) &&
      !std::signbit(value)) {
    out.append(text, std::to_chars(text, std::end(text), static_cast<std::int64_t>(value)).ptr);
  } else {
    out += metric_number(value);
  }
}

}  // namespace

std::string metric_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[64];
  const auto scientific = std::to_chars(text, std::end(text), value, std::chars_format::scientific);
  const std::string_view written(text, static_cast<std::size_t>(scientific.ptr - text));
  const std::size_t e = written.rfind('e') + 1;
  int exponent = 0;
  std::from_chars(text + e + (text[e] == '+' ? 1 : 0), scientific.ptr, exponent);
  if (exponent < kLeastExponent || exponent > kMostExponent) return std::string(written);
  const auto fixed = std::to_chars(text, std::end(text), value, std::chars_format::fixed);
  return std::string(text, fixed.ptr);
}

MetricFamilyText::MetricFamilyText(std::string& out, std::string_view name, std::string_view help,
                                   std::string_view type)
    : out_(&out), name_(name) {
  (*out_ += "# HELP ") += name_;
  add_escaped(*out_ += ' ', help, false);
  (((*out_ += "\n# TYPE ") += name_) += ' ') += type;
  *out_ += '\n';
}

void MetricFamilyText::set_labels(const Labels& labels) {
  labels_.clear();
  for (const auto& [name, value] : labels) {
    if (!labels_.empty()) labels_ += ',';
    (labels_ += name) += "=\"";
    add_escaped(labels_, value, true);
    labels_ += '"';
  }
}

void MetricFamilyText::line(std::string_view suffix, double value) {
  (*out_ += name_) += suffix;
  if (!labels_.empty()) ((*out_ += '{') += labels_) += '}';
  add_number(*out_ += ' ', value);
  *out_ += '\n';
}

void MetricFamilyText::bucket_line(std::string_view limit, std::uint64_t count) {
  (*out_ += name_) += "_bucket{";
  if (!labels_.empty()) (*out_ += labels_) += ',';
  ((*out_ += "le=\"") += limit) += "\"} ";
  add_number(*out_, static_cast<double>(count));
  *out_ += '\n';
}

void MetricFamilyText::add(const Labels& labels, double value) {
  set_labels(labels);
  line("", value);
}

void MetricFamilyText::add_histogram(const Labels& labels, const std::vector<Bucket>& buckets, double sum,
                                     std::uint64_t count) {
  set_labels(labels);
  bool has_all = false;  // the +Inf bucket is there
  for (const Bucket& bucket : buckets) {
    has_all = has_all || std::isinf(bucket.limit);
    std::string& limit = limits_[bucket.limit];
    if (limit.empty()) limit = metric_number(bucket.limit);
    bucket_line(limit, bucket.count);
  }
  if (!has_all) bucket_line("+Inf", count);
  line("_sum", sum);
  line("_count", static_cast<double>(count));
}

}  // namespace berth
