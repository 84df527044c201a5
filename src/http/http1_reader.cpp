#include "http/http1_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "http/limits.h"

namespace berth::http {
namespace {

constexpr std::size_t kFieldOverhead = 32;  // counted per header field, as in HTTP/2 (RFC 9113, 6.5.2)
constexpr std::size_t kMaxSizeDigits = 15;  // hexadecimal digits of a number that always fits

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

void Http1Reader::next_request() { *this = {}; }

Http1Reader::Event Http1Reader::refuse(Http1Fault fault) {
  fault_ = std::move(fault);
  stage_ = Stage::kRefused;
  line_ = std::string();
  head_ = {};
  return Event::kRefused;
}

Http1Fault Http1Reader::too_long() const {
  const std::string limit = std::to_string(kMaxHeaderBytes) + " bytes";
  if (stage_ == Stage::kFirstLine) return {414, "the request's first line is larger than " + limit};
  if (stage_ == Stage::kHeader) return {431, "the request's header is larger than " + limit};
  return {431, "the chunk extensions and trailers are larger than " + limit};
}

// How many bytes the line may have that is being read.
std::size_t Http1Reader::room_of_line() const {
  const std::size_t used = in_head() ? head_bytes_ : extra_bytes_;
  return kMaxHeaderBytes - std::min(used, kMaxHeaderBytes);
}

Http1Reader::Taken Http1Reader::read(std::string_view bytes) {
  std::size_t taken = 0;
  for (;;) {
    if (stage_ == Stage::kRefused) return {Event::kRefused, taken};
    if (stage_ == Stage::kEnd) return {Event::kEnd, taken};
    const std::string_view rest = bytes.substr(taken);
    if (rest.empty()) return {Event::kMore, taken};
    if (stage_ == Stage::kBody || stage_ == Stage::kChunk) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, rest.size()));
      left_ -= n;
      if (left_ == 0) stage_ = stage_ == Stage::kBody ? Stage::kEnd : Stage::kChunkEnd;
      return {Event::kBody, taken + n, rest.substr(0, n)};
    }
    const std::size_t newline = rest.find('\n');
    const std::size_t n = newline == std::string_view::npos ? rest.size() : newline + 1;
    if (line_.size() + n > room_of_line() + 2) return {refuse(too_long()), taken};
    taken += n;
    line_.append(rest.substr(0, n));
    if (newline == std::string_view::npos) continue;
    if (!line_.ends_with("\r\n") || line_.find('\r') != line_.size() - 2)
      return {refuse({400, "lines must end with CR LF, and CR must not stand alone"}), taken};
    line_.resize(line_.size() - 2);
    const std::string line = std::exchange(line_, {});
    if (const auto event = on_line(line)) return {*event, taken};
  }
}

std::optional<Http1Reader::Event> Http1Reader::on_line(std::string_view line) {
  switch (stage_) {
    case Stage::kFirstLine:
      return on_first_line(line);
    case Stage::kHeader:
      return on_header_line(line);
    case Stage::kChunkSize:
      return on_chunk_size(line);
    case Stage::kChunkEnd:
      if (!line.empty()) return refuse({400, "a chunk is longer than its size"});
      stage_ = Stage::kChunkSize;
      return std::nullopt;
    default:
      return on_trailer_line(line);
  }
}

std::optional<Http1Reader::Event> Http1Reader::on_first_line(std::string_view line) {
  // Some old clients send an empty line after a body (RFC 9112, 2.2).
  if (line.empty() && !std::exchange(skipped_empty_, true)) return std::nullopt;
  head_bytes_ += line.size();
  if (auto fault = read_request_line(line, head_, authority_)) return refuse(std::move(*fault));
  stage_ = Stage::kHeader;
  return std::nullopt;
}

std::optional<Http1Reader::Event> Http1Reader::on_header_line(std::string_view line) {
  if (!line.empty()) {
    head_bytes_ += line.size() + kFieldOverhead;
    if (head_bytes_ > kMaxHeaderBytes) return refuse(too_long());
    Header field;
    if (auto fault = read_field(line, field)) return refuse(std::move(*fault));
    head_.request.headers.push_back(std::move(field));
    return std::nullopt;
  }
  if (auto fault = read_framing(head_, authority_)) return refuse(std::move(*fault));
  left_ = head_.length;
  has_body_ = head_.chunked || left_ > 0;
  stage_ = head_.chunked ? Stage::kChunkSize : left_ > 0 ? Stage::kBody : Stage::kEnd;
  return Event::kHead;
}

// SIZE [; EXTENSION]. Extensions are not understood, so they are dropped (RFC 9112, 7.1.1).
std::optional<Http1Reader::Event> Http1Reader::on_chunk_size(std::string_view line) {
  const auto digits = static_cast<std::size_t>(std::find_if_not(line.begin(), line.end(), is_hex) - line.begin());
  std::string_view extension = line.substr(digits);
  extra_bytes_ += extension.size();
  if (extra_bytes_ > kMaxHeaderBytes) return refuse(too_long());
  while (extension.starts_with(' ') || extension.starts_with('\t')) extension.remove_prefix(1);
  const bool fine = std::all_of(extension.begin(), extension.end(), [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  });
  const bool bare = digits == line.size();
  if (digits == 0 || digits > kMaxSizeDigits || !fine || !(bare || extension.starts_with(';')))
    return refuse({400, "the size of a chunk must be a hexadecimal number"});
  std::from_chars(line.data(), line.data() + digits, left_, 16);
  stage_ = left_ > 0 ? Stage::kChunk : Stage::kTrailer;
  return std::nullopt;
}

// A trailer is never a header: who asks, from where and for what was decided before it came.
std::optional<Http1Reader::Event> Http1Reader::on_trailer_line(std::string_view line) {
  if (line.empty()) {
    stage_ = Stage::kEnd;
    return Event::kEnd;
  }
  extra_bytes_ += line.size();
  if (extra_bytes_ > kMaxHeaderBytes) return refuse(too_long());
  Header dropped;
  if (auto fault = read_field(line, dropped)) return refuse(std::move(*fault));
  return std::nullopt;
}

}  // namespace berth::http
