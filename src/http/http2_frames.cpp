#include "http/http2_frames.h"

#include <iterator>
#include <string>
#include <utility>

#include "base/nghttp2.h"
#include "http/limits.h"

namespace berth::http {
namespace {

std::uint32_t code_of(Http2Frames::Code why) {
  switch (why) {
    case Http2Frames::Code::kNone:
      return NGHTTP2_NO_ERROR;
    case Http2Frames::Code::kRefusedStream:
      return NGHTTP2_REFUSED_STREAM;
    case Http2Frames::Code::kCancel:
      return NGHTTP2_CANCEL;
    case Http2Frames::Code::kEnhanceYourCalm:
      return NGHTTP2_ENHANCE_YOUR_CALM;
  }
  return NGHTTP2_INTERNAL_ERROR;
}

Http2Frames::Events& events_of(void* data) { return *static_cast<Http2Frames::Events*>(data); }

bool begins_request(const nghttp2_frame* frame) {
  return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

int on_begin_frame(nghttp2_session*, const nghttp2_frame_hd* head, void* data) {
  if (head->type != NGHTTP2_CONTINUATION) events_of(data).on_header_block(head->type == NGHTTP2_HEADERS);
  return 0;
}

int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* data) {
  if (begins_request(frame)) events_of(data).on_request(frame->hd.stream_id);
  return 0;
}

int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
              const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* data) {
  if (begins_request(frame))
    events_of(data).on_header(frame->hd.stream_id, nghttp2::view(name, name_size), nghttp2::view(value, value_size));
  return 0;
}

int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* data) {
  Http2Frames::Events& events = events_of(data);
  const Http2Frames::Stream stream = frame->hd.stream_id;
  const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
      begins_request(frame) ? events.on_headers_end(stream, !last) : events.on_trailers(stream);
      if (last) events.on_request_end(stream);
      break;
    case NGHTTP2_DATA:
      if (frame->hd.length == 0 && !last) events.on_idle_frame();
      if (last) events.on_request_end(stream);
      break;
    case NGHTTP2_PING:
      events.on_idle_frame();
      if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) events.on_ping_answered();
      break;
    case NGHTTP2_RST_STREAM:
      break;  // on_close() follows
    default:
      events.on_idle_frame();
  }
  return 0;
}

int on_invalid_frame(nghttp2_session*, const nghttp2_frame*, int, void* data) {
  events_of(data).on_idle_frame();
  return 0;
}

int on_data(nghttp2_session* session, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes, std::size_t size,
            void* data) {
  // Give back the connection window at once: it only bounds bytes in transit. The stream windows bound buffered
  // bytes.
  nghttp2_session_consume_connection(session, size);
  events_of(data).on_body(stream, nghttp2::view(bytes, size));
  return 0;
}

int on_sent(nghttp2_session*, const nghttp2_frame* frame, void* data) {
  const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (last && (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA))
    events_of(data).on_answered(frame->hd.stream_id);
  return 0;
}

int on_stream_close(nghttp2_session*, std::int32_t stream, std::uint32_t, void* data) {
  events_of(data).on_close(stream);
  return 0;
}

ssize_t take_body(nghttp2_session*, std::int32_t stream, std::uint8_t* to, std::size_t size, std::uint32_t* flags,
                  nghttp2_data_source*, void* data) {
  const Http2Frames::Piece piece = events_of(data).take(stream, reinterpret_cast<char*>(to), size);
  if (piece.last) *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (piece.bytes == 0 && !piece.last) return NGHTTP2_ERR_DEFERRED;
  return static_cast<ssize_t>(piece.bytes);
}

nghttp2::Callbacks make_callbacks() {
  nghttp2_session_callbacks* all = nullptr;
  nghttp2_session_callbacks_new(&all);
  nghttp2_session_callbacks_set_on_begin_frame_callback(all, on_begin_frame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(all, on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(all, on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(all, on_frame);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(all, on_invalid_frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, on_data);
  nghttp2_session_callbacks_set_on_frame_send_callback(all, on_sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(all, on_stream_close);
  return nghttp2::Callbacks(all);
}

nghttp2::Options make_options() {
  nghttp2_option* all = nullptr;
  nghttp2_option_new(&all);
  nghttp2_option_set_no_auto_window_update(all, 1);
  nghttp2_option_set_no_closed_streams(all, 1);
  // Http2Streams counts resets and ends the connection with the right error code, so nghttp2's own limit is off.
  nghttp2_option_set_stream_reset_rate_limit(all, static_cast<std::uint64_t>(-1), static_cast<std::uint64_t>(-1));
  return nghttp2::Options(all);
}

}  // namespace

struct Http2Frames::Impl {
  explicit Impl(Events& events) {
    const auto callbacks = make_callbacks();
    const auto options = make_options();
    nghttp2_session* made = nullptr;
    nghttp2_session_server_new2(&made, callbacks.get(), &events, options.get());
    session.reset(made);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, static_cast<std::uint32_t>(kMaxStreams)},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(kStreamWindow)},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(kMaxHeaderBytes)},
    };
    nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(kConnectionWindow));
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

std::size_t Http2Frames::queued() const { return nghttp2_session_get_outbound_queue_size(impl_->session.get()); }

bool Http2Frames::over() const {
  nghttp2_session* const s = impl_->session.get();
  return impl_->broken || (nghttp2_session_want_read(s) == 0 && nghttp2_session_want_write(s) == 0);
}

void Http2Frames::respond(Stream stream, int status, const std::vector<Header>& headers, bool body) {
  std::vector<std::pair<std::string, std::string>> all = {{":status", std::to_string(status)}};
  for (const Header& h : headers) {
    std::string name = nghttp2::lower_case(h.name);
    if (name != "connection" && name != "transfer-encoding") all.emplace_back(std::move(name), h.value);
  }
  std::vector<nghttp2_nv> fields;
  fields.reserve(all.size());
  for (const auto& [name, value] : all) fields.push_back(nghttp2::field(name, value));
  nghttp2_data_provider provider{{}, take_body};
  nghttp2_submit_response(impl_->session.get(), stream, fields.data(), fields.size(), body ? &provider : nullptr);
}

void Http2Frames::say_continue(Stream stream) {
  const std::string name = ":status", value = "100";
  const nghttp2_nv status = nghttp2::field(name, value);
  nghttp2_submit_headers(impl_->session.get(), NGHTTP2_FLAG_NONE, stream, nullptr, &status, 1, nullptr);
}

void Http2Frames::resume(Stream stream) { nghttp2_session_resume_data(impl_->session.get(), stream); }

void Http2Frames::reset(Stream stream, Code why) {
  nghttp2_submit_rst_stream(impl_->session.get(), NGHTTP2_FLAG_NONE, stream, code_of(why));
}

void Http2Frames::widen(Stream stream) {
  nghttp2_session_set_local_window_size(impl_->session.get(), NGHTTP2_FLAG_NONE, stream,
                                        static_cast<std::int32_t>(kConnectionWindow));
}

void Http2Frames::credit(Stream stream, std::size_t bytes) {
  nghttp2_session_consume_stream(impl_->session.get(), stream, bytes);
}

void Http2Frames::ping() { nghttp2_submit_ping(impl_->session.get(), NGHTTP2_FLAG_NONE, nullptr); }

void Http2Frames::announce_end() { nghttp2_submit_shutdown_notice(impl_->session.get()); }

void Http2Frames::end() {
  nghttp2_session* const s = impl_->session.get();
  nghttp2_submit_goaway(s, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(s), NGHTTP2_NO_ERROR, nullptr, 0);
}

void Http2Frames::quit(Code why) { nghttp2_session_terminate_session(impl_->session.get(), code_of(why)); }

}  // namespace berth::http
