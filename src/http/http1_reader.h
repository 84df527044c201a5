// Reads the requests of one HTTP/1.1 connection, one after the other. What is read beside bodies is bounded, and
// trailers are checked and dropped. Pure: bytes in, events out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/http1_head.h"

namespace berth::http {

class Http1Reader {
 public:
  enum class Event { kMore, kHead, kBody, kEnd, kRefused };
  // `bytes` were taken from the front of the input. kBody: `body` is a part of the input. kRefused: fault() says why,
  // and the connection cannot be read further. kMore: all bytes were taken, and nothing is complete yet.
  struct Taken {
    Event event = Event::kMore;
    std::size_t bytes = 0;
    std::string_view body = {};
  };

  // Reads to the next event. After kHead come kBody (or none) and kEnd, which needs no further bytes.
  Taken read(std::string_view bytes);
  void next_request();  // after kEnd

  Http1Head take_head() { return std::move(head_); }  // after kHead
  bool has_body() const { return has_body_; }         // after kHead: bytes of a body may follow
  const Http1Fault& fault() const { return fault_; }

 private:
  enum class Stage { kFirstLine, kHeader, kBody, kChunkSize, kChunk, kChunkEnd, kTrailer, kEnd, kRefused };

  std::optional<Event> on_line(std::string_view line);
  std::optional<Event> on_first_line(std::string_view line);
  std::optional<Event> on_header_line(std::string_view line);
  std::optional<Event> on_chunk_size(std::string_view line);
  std::optional<Event> on_trailer_line(std::string_view line);
  Event refuse(Http1Fault fault);
  bool in_head() const { return stage_ == Stage::kFirstLine || stage_ == Stage::kHeader; }
  Http1Fault too_long() const;
  std::size_t room_of_line() const;

  Stage stage_ = Stage::kFirstLine;
  std::string line_;  // the part of a line that has come
  Http1Head head_;
  std::optional<std::string> authority_;
  bool has_body_ = false, skipped_empty_ = false;
  std::size_t head_bytes_ = 0;   // of the lines that are complete
  std::size_t extra_bytes_ = 0;  // of chunk extensions and trailers
  std::uint64_t left_ = 0;       // bytes of the body or the chunk
  Http1Fault fault_;
};

}  // namespace berth::http
