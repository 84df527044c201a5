// The style of a report: light and dark by the reader's setting, black on white in print.
#pragma once

#include <string_view>

namespace berth::simulate::html {

inline constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--fg:#1c2024;--bg:#fff;--soft:#5c6570;--line:#d9dde2;--box:#f6f7f9;--limit:#1c2024;
--c0:#0072b2;--c1:#e69f00;--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;--c5:#d55e00;--c6:#8c6bb1;--c7:#7a7a00;--cx:#9aa2ab;
--waiting:#8a939d;--inactive:#d9dde2}
@media (prefers-color-scheme:dark){:root{--fg:#e6e9ec;--bg:#14171a;--soft:#a2abb5;--line:#343a41;--box:#1c2024;--limit:#fff;
--c0:#4aa3df;--c1:#e6a817;--c2:#2bbd92;--c3:#d58db5;--c4:#8accf5;--c5:#f0803c;--c6:#a98bcb;--c7:#b5b53a;--cx:#6d7680;
--waiting:#7d8791;--inactive:#343a41}}
body{margin:0 auto;max-width:1180px;padding:24px;font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg)}
h1{font-size:26px;margin:0}h2{font-size:20px;margin:36px 0 8px}h3{font-size:16px;margin:20px 0 6px}
p{max-width:80ch;margin:6px 0}.soft{color:var(--soft)}.bad{border-left:4px solid var(--c5);padding-left:12px}
.pair{display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start}.pair>figure{flex:3 1 480px;margin:0}.pair>div{flex:1 1 260px;
overflow-x:auto}
svg{width:100%;height:auto;display:block}svg text{font:11px system-ui,sans-serif;fill:var(--fg)}.axis text{fill:var(--soft)}
text.e{text-anchor:end}text.m{text-anchor:middle}.grid line{stroke:var(--line)}
.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}
.c6{fill:var(--c6)}.c7{fill:var(--c7)}.cx{fill:var(--cx)}polygon{stroke:var(--bg);stroke-width:.5}
.limit{fill:none;stroke:var(--limit);stroke-width:1.5;stroke-dasharray:5 3}.limit-key{fill:var(--limit)}
.waiting{fill:var(--waiting)}.reserved{fill:var(--c1)}.admitted{fill:var(--c0)}.stopping{fill:var(--c5)}
.inactive{fill:var(--inactive)}.mark{stroke:var(--c5);stroke-width:2;fill:none}.mark-key{fill:var(--c5)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;padding:0;margin:6px 0;font-size:13px}
.legend svg{width:12px;height:12px;display:inline-block;margin-right:6px}
table{border-collapse:collapse;font-size:13px}caption{text-align:left;color:var(--soft);padding:4px 0}
th,td{padding:3px 10px 3px 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:top;font-weight:normal}
thead th{color:var(--soft)}table.n td,table.n thead th+th{text-align:right}table.n td{white-space:nowrap}figure{margin:0}td{font-variant-numeric:tabular-nums}
@media print{:root{color-scheme:light;--fg:#000;--bg:#fff;--soft:#333;--line:#bbb;--limit:#000;--c0:#0072b2;--c1:#e69f00;
--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;--c5:#d55e00;--c6:#8c6bb1;--c7:#7a7a00;--cx:#9aa2ab;--waiting:#8a939d}
body{padding:0;max-width:none}svg *{print-color-adjust:exact;-webkit-print-color-adjust:exact}
figure,tr,h2,h3{break-inside:avoid}h2,h3{break-after:avoid}}
)css";

}  // namespace berth::simulate::html
