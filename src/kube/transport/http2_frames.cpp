#include "kube/transport/http2_frames.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/nghttp2.h"

namespace berth::kube {
namespace {

// Bytes in transit of all streams together. The windows of streams bound what is kept.
constexpr std::int32_t kConnectionWindow = 16 << 20;

Http2Frames::Events& events_of(void* data) { return *static_cast<Http2Frames::Events*>(data); }

// Headers after the body (trailers) are not of interest.
bool has_head(const nghttp2_frame* frame) {
  return frame->hd.type == NGHTTP2_HEADERS &&
         (frame->headers.cat == NGHTTP2_HCAT_RESPONSE || frame->headers.cat == NGHTTP2_HCAT_HEADERS);
}

int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
              const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* data) {
  if (has_head(frame))
    events_of(data).on_header(frame->hd.stream_id, nghttp2::view(name, name_size), nghttp2::view(value, value_size));
  return 0;
}

int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* data) {
  Http2Frames::Events& events = events_of(data);
  if (has_head(frame)) events.on_head(frame->hd.stream_id);
  if (frame->hd.type == NGHTTP2_GOAWAY) events.on_goaway();
  return 0;
}

int on_data(nghttp2_session* session, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes, std::size_t size,
            void* data) {
  // Give back the connection window at once, so that a paused stream does not pause the others.
  nghttp2_session_consume_connection(session, size);
  events_of(data).on_body(stream, nghttp2::view(bytes, size));
  return 0;
}

int on_frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* data) {
  if (frame->hd.type == NGHTTP2_HEADERS) events_of(data).on_sent(frame->hd.stream_id);
  return 0;
}

int on_stream_close(nghttp2_session*, std::int32_t stream, std::uint32_t code, void* data) {
  using End = Http2Frames::End;
  const End end = code == NGHTTP2_NO_ERROR         ? End::kWhole
                  : code == NGHTTP2_REFUSED_STREAM ? End::kRefused
                                                   : End::kBroken;
  events_of(data).on_close(stream, end);
  return 0;
}

ssize_t take_body(nghttp2_session*, std::int32_t stream, std::uint8_t* to, std::size_t size, std::uint32_t* flags,
                  nghttp2_data_source*, void* data) {
  const Http2Frames::Piece piece = events_of(data).take(stream, reinterpret_cast<char*>(to), size);
  if (piece.last) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(piece.bytes);
}

nghttp2::Callbacks make_callbacks() {
  nghttp2_session_callbacks* all = nullptr;
  nghttp2_session_callbacks_new(&all);
  nghttp2_session_callbacks_set_on_header_callback(all, on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(all, on_frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, on_data);
  nghttp2_session_callbacks_set_on_frame_send_callback(all, on_frame_sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(all, on_stream_close);
  return nghttp2::Callbacks(all);
}

nghttp2::Options make_options() {
  nghttp2_option* all = nullptr;
  nghttp2_option_new(&all);
  nghttp2_option_set_no_auto_window_update(all, 1);
  nghttp2_option_set_no_closed_streams(all, 1);
  return nghttp2::Options(all);
}

}  // namespace

struct Http2Frames::Impl {
  explicit Impl(Events& events) {
    const auto callbacks = make_callbacks();
    const auto options = make_options();
    nghttp2_session* made = nullptr;
    nghttp2_session_client_new2(&made, callbacks.get(), &events, options.get());
    session.reset(made);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(kStreamWindow)},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(kMaxHeaderBytes)},
    };
    nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  }

  nghttp2::Session session;
  bool broken = false;
};

Http2Frames::Http2Frames(Events& events) : impl_(std::make_unique<Impl>(events)) {}
Http2Frames::~Http2Frames() = default;

bool Http2Frames::receive(std::string_view bytes) {
  const auto taken =
      nghttp2_session_mem_recv(impl_->session.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  impl_->broken = impl_->broken || taken < 0;
  return !impl_->broken;
}

std::string_view Http2Frames::next() {
  const std::uint8_t* bytes = nullptr;
  const auto size = nghttp2_session_mem_send(impl_->session.get(), &bytes);
  impl_->broken = impl_->broken || size < 0;
  return size > 0 ? nghttp2::view(bytes, static_cast<std::size_t>(size)) : std::string_view();
}

bool Http2Frames::over() const {
  nghttp2_session* const s = impl_->session.get();
  return impl_->broken || (nghttp2_session_want_read(s) == 0 && nghttp2_session_want_write(s) == 0);
}

Http2Frames::Stream Http2Frames::request(const HttpRequest& request, std::string_view authority) {
  std::vector<std::string> names;  // in lower case, as HTTP/2 wants them
  names.reserve(request.headers.size());
  std::vector<nghttp2_nv> fields = {nghttp2::field(":method", request.method), nghttp2::field(":scheme", "https"),
                                    nghttp2::field(":authority", authority), nghttp2::field(":path", request.target)};
  for (const auto& [name, value] : request.headers) {
    names.push_back(nghttp2::lower_case(name));
    if (names.back() == "connection") continue;  // a connection is shared
    fields.push_back(nghttp2::field(names.back(), value));
  }
  const std::string length = std::to_string(request.body.size());
  const bool has_body = !request.body.empty();
  if (has_body) fields.push_back(nghttp2::field("content-length", length));
  nghttp2_data_provider body{{}, take_body};
  const auto stream = nghttp2_submit_request(impl_->session.get(), nullptr, fields.data(), fields.size(),
                                             has_body ? &body : nullptr, nullptr);
  return stream < 0 ? 0 : stream;
}

void Http2Frames::cancel(Stream stream) {
  nghttp2_submit_rst_stream(impl_->session.get(), NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

void Http2Frames::credit(Stream stream, std::size_t bytes) {
  nghttp2_session_consume_stream(impl_->session.get(), stream, bytes);
}

void Http2Frames::ping() { nghttp2_submit_ping(impl_->session.get(), NGHTTP2_FLAG_NONE, nullptr); }

std::size_t Http2Frames::max_streams() const {
  return nghttp2_session_get_remote_settings(impl_->session.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

}  // namespace berth::kube
