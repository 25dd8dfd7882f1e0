import { hash } from 'node:crypto'
import {
  chartStyle,
  dark,
  forcedChartStyle,
  light,
  narrowTableStyle,
  tableStyle,
} from '../../report/style.ts'

/** Each row of a table becomes a block. */
const narrowStyle = `@media screen and (max-width: 52rem) {
  main { padding: 1.25rem .75rem 3rem; }
  .card { padding: 1.125rem 1rem; }
  .banner { padding: .5rem .75rem; }
  .banner { gap: 0 1rem; }
  .banner nav { margin: 0 -.5rem; }
  .banner ul { gap: 0; }
  .banner nav a { padding: .5rem; font-size: .9375rem; }
  .who { flex: 1; justify-content: flex-end; }
  .who span { font-size: .8125rem; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tiles div { padding: .75rem 1rem; }
  .tiles div:last-child:nth-child(odd) { grid-column: 1 / -1; }
  .tiles dd { font-size: 1.5rem; }
  .filter .apart { margin-left: 0; }
${narrowTableStyle}  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin: 0 0 .625rem; }
}
`

/** Inlined to save a request. */
export const style = `
:root { color-scheme: light dark; ${light} }
@media (prefers-color-scheme: dark) { :root { ${dark} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, sans-serif;
  -webkit-text-size-adjust: 100%; }
a { color: var(--accent); text-underline-offset: .2em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
main { max-width: 72rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
main:focus { outline: none; }
main.narrow { max-width: 31rem; padding-top: 2.5rem; }
h1 { font-size: 1.75rem; font-weight: 650; line-height: 1.2; letter-spacing: -.015em; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.125rem; font-weight: 650; line-height: 1.3; margin: 0 0 .75rem; }
.narrow h1, .short h1 { font-size: 1.5rem; }
h3 { font-size: 1rem; font-weight: 650; line-height: 1.3; margin: 1.25rem 0 .25rem; }
h3 .note { font-weight: 400; }
p { margin: 0 0 1rem; max-width: 42rem; overflow-wrap: anywhere; }
.card > :last-child, .card form > :last-child { margin-bottom: 0; }
.text { white-space: pre-line; overflow-wrap: anywhere; }
small { display: block; font-size: .875rem; font-weight: 400; color: var(--soft); }
.note, .hint { color: var(--soft); }
.none { color: var(--soft); }
.unseen, caption, .skip:not(:focus) { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.skip:focus { position: absolute; z-index: 1; top: .5rem; left: .5rem; padding: .5rem 1rem; background: var(--card); }

.banner { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; background: var(--card);
  border-bottom: 1px solid var(--line); padding: .5rem max(1rem, (100% - 70rem) / 2); }
.banner nav { order: 1; width: 100%; margin: 0 -.75rem; }
.mark { font-weight: 700; letter-spacing: -.01em; color: var(--ink); text-decoration: none; padding: .5rem 0; }
.mark span { font-weight: 400; color: var(--soft); }
.banner ul, .parts ul, .filter ul, .key, .plain { list-style: none; margin: 0; padding: 0; }
.banner ul, .parts ul, .filter ul { display: flex; flex-wrap: wrap; gap: .25rem; }
.parts { border-bottom: 1px solid var(--line); margin: 0 0 1.5rem; }
.parts li { margin: 0 0 -1px; }
:is(.banner nav, .parts) a { display: block; padding: .5rem .75rem; color: var(--ink); text-decoration: none; border-bottom: 3px solid transparent; }
:is(.banner nav, .parts) a:hover { background: var(--ground); border-radius: 6px 6px 0 0; }
:is(.banner nav, .parts) a[aria-current] { font-weight: 600; border-bottom-color: var(--accent); }
.who { display: flex; align-items: center; gap: .75rem; margin-left: auto; min-width: 0; }
.who span { text-align: right; line-height: 1.25; font-size: .875rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.who button { flex: none; }
.who small { font-size: .8125rem; }

.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.5rem; margin: 0 0 1.5rem; }
.card.short { max-width: 40rem; }
.card > form:not(:has(table)):has(:is(input:not([type=hidden]), textarea)) { max-width: 37rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 1px; margin: 0 0 1.5rem;
  background: var(--line); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
.tiles div { display: flex; flex-direction: column; background: var(--card); padding: 1rem 1.25rem; }
.tiles dt { color: var(--soft); font-size: .875rem; }
.tiles dd { margin: 0; font-size: 1.75rem; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums; }
.attention { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 1rem 2rem; margin: 0; }
.attention > div { border-left: 4px solid var(--warn); padding: 0 0 0 1rem; }
.attention > .nothing { border-color: var(--line); }
.attention dt { font-weight: 600; }
.attention dd { margin: 0; }
.attention .figure { font-size: 1.75rem; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums; }
.attention .nothing .figure { color: var(--soft); }
.attention .note { font-size: .875rem; }
.attention li { padding: .125rem 0; overflow-wrap: anywhere; }
.attention ul, .attention details { margin: .5rem 0 0; font-size: .9375rem; }
.attention details { margin: .125rem 0 0; }
.steps { margin: 0; padding-left: 1.25rem; }
.steps li { margin: 0 0 .75rem; }
.steps .code { margin: .25rem 0 0; user-select: all; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .375rem 1.5rem; margin: 0 0 1rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.scopes { list-style: none; margin: 0 0 1.25rem; padding: 0; border-top: 1px solid var(--line); }
.scopes li { display: grid; grid-template-columns: 1fr auto; align-items: baseline; gap: 1rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
.scopes small { font-family: ui-monospace, monospace; }
.fault, .note-bar { border-left: 4px solid var(--bad); background: var(--bad-tint); border-radius: 0 6px 6px 0;
  padding: .75rem 1rem; margin: 0 0 1.25rem; max-width: none; }
.note-bar { border-color: var(--good); background: var(--good-tint); }
p.fault { font-weight: 600; }
.fault p { margin: 0; font-weight: 600; }
.fault ul { margin: .25rem 0 0; padding-left: 1.25rem; }
.fault a { color: var(--bad); }
.back { margin: 0 0 .5rem; }
.back::before { content: "\\2190\\a0"; color: var(--soft); }

label, legend { display: block; font-weight: 600; margin: 0 0 .25rem; padding: 0; }
input:not([type=checkbox], [type=radio]), textarea, select { display: block; width: 100%; min-height: 2.75rem; padding: .5rem .75rem;
  margin: 0 0 1rem; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--edge); border-radius: 6px; }
::placeholder { color: var(--soft); opacity: 1; }
.user-code { font: 600 1.375rem/1.5 ui-monospace, monospace !important; letter-spacing: .1em; text-transform: uppercase; }
.user-code::placeholder { font-weight: 400; }
input[type=date] { width: auto; min-width: 12rem; }
input[type=hidden] { display: none; }
[aria-invalid=true] { border: 2px solid var(--bad) !important; }
textarea { font-family: ui-monospace, monospace; font-size: .9375rem; resize: vertical; }
.hint { font-size: .875rem; margin: -.75rem 0 1rem; }
fieldset { border: 0; margin: 0 0 1rem; padding: 0; min-width: 0; }
.choice { display: flex; gap: .625rem; align-items: baseline; font-weight: 400; padding: .3rem 0; margin: 0; }
.choice input { flex: none; width: 1.125rem; height: 1.125rem; margin: 0; accent-color: var(--accent); transform: translateY(.15rem); }
button, .button { display: inline-block; font: inherit; font-weight: 600; line-height: 1.5; padding: .5rem 1.125rem; border-radius: 6px;
  border: 1px solid var(--accent); background: var(--accent); color: var(--accent-ink); cursor: pointer; text-decoration: none; }
button:hover { filter: brightness(1.08); }
button.quiet, .button { background: transparent; color: var(--accent); border-color: var(--edge); }
button.quiet:hover, .button:hover { background: var(--tint); filter: none; }
button.danger { background: var(--bad); border-color: var(--bad); color: var(--card); }
button.small { padding: .25rem .75rem; font-size: .875rem; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 0; }
.consent .actions { position: sticky; bottom: 0; margin: 0 0 1rem; padding: .75rem 0; background: var(--card); border-top: 1px solid var(--line); }
code, .code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9375em; overflow-wrap: anywhere; }
.code { display: block; padding: .75rem 1rem; margin: 0 0 1rem; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; }
pre.code { white-space: pre-wrap; max-height: 32rem; overflow: auto; }
.actions.row { margin: 0 0 1.5rem; }
.secret { border: 2px dashed var(--edge); user-select: all; }

${tableStyle}time, .word { white-space: nowrap; }
.state { display: inline-block; padding: 0 .5rem; border: 1px solid var(--edge); border-radius: 1rem; font-size: .8125rem; color: var(--soft); }
small .state { margin-left: .5rem; }
.state:is(.active, .delivered, .applied, .completed) { color: var(--good); border-color: var(--good); font-weight: 600; }
.state:is(.failed, .unmatched) { color: var(--bad); border-color: var(--bad); font-weight: 600; }
.take { color: var(--bad); }

table + .note, .further { margin: 1rem 0 0; }
.pages.items { padding: 0 0 .75rem; }
.pages { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; padding: 1rem 0 0; }
.files { margin: 1rem 0 0; }
.files a { margin: 0 .25rem; }
.narrow-down { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: 0 1rem; align-items: end; margin: 0 0 1rem; }
.fold { margin: 0 0 1rem; }
@supports selector(::details-content) {
  @media (min-width: 52.01rem) { .fold > summary { display: none; } .fold::details-content { content-visibility: visible; } }
}
.fold > summary { margin: 0 0 .75rem; }
.narrow-down .fault, .narrow-down .actions { grid-column: 1 / -1; }
.narrow-down .across { grid-column: 1 / -1; }
.narrow-down .actions { align-items: center; margin: 0; }
@media (min-width: 52.01rem) {
  .narrow-down .across { grid-column: span 2; }
  .card .narrow-down .actions { grid-column: auto; margin: 0 0 1rem; }
}
.lessons table { table-layout: fixed; }
.lessons thead th:first-child { width: 40%; }
.lessons thead .figures { width: 8rem; }
.sorting a { color: inherit; text-decoration: none; white-space: nowrap; }
.sorting .figures a { white-space: normal; }
.sorting a:hover { color: var(--accent); text-decoration: underline; }
.sorting a::after { content: " \\2195"; content: " \\2195" / ""; font-weight: 400; }
.sorting [aria-sort] a { color: var(--ink); }
.sorting [aria-sort=ascending] a::after { content: " \\2191"; content: " \\2191" / ""; }
.sorting [aria-sort=descending] a::after { content: " \\2193"; content: " \\2193" / ""; }
.filter { margin: 0 0 1rem; }
.filter .apart { margin-left: 1rem; }
.filter a { display: block; padding: .25rem .75rem; border: 1px solid var(--edge); border-radius: 1rem; color: var(--ink); text-decoration: none; }
.filter a[aria-current] { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); font-weight: 600; }
.filter a span { font-variant-numeric: tabular-nums; opacity: .85; }

figcaption .note { margin: -.5rem 0 .5rem; }
details { margin: .75rem 0 0; }
summary { cursor: pointer; color: var(--accent); width: max-content; }
details table { max-width: 24rem; margin: .75rem 0 0; }
${chartStyle}${narrowStyle}@media (forced-colors: active) {
${forcedChartStyle}  .filter a[aria-current] { forced-color-adjust: none; background: Highlight; color: HighlightText; border-color: Highlight; }
  :is(.banner nav, .parts) a { border-bottom-color: Canvas; }
  :is(.banner nav, .parts) a[aria-current] { border-bottom-color: Highlight; }
}
@media print {
  :root { ${light} }
  body { background: none; }
  .banner nav, .who button, form:not(.who), .pages, .filter, .take, .skip { display: none; }
  .card { break-inside: avoid-page; border-color: #999; }
  tr { break-inside: avoid; }
}
`

/** CSP Level 3 §2.3.1. */
export function sourceOf(sheet: string): string {
  return `'sha256-${hash('sha256', sheet, 'base64')}'`
}

export const styleSource = sourceOf(style)
