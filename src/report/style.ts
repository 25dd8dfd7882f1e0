export const light = `--ink: #1b2430; --soft: #54616e; --line: #dce2e9; --edge: #77838f; --ground: #f4f6f8; --card: #fff;
  --accent: #1f57b5; --accent-ink: #fff; --tint: #e9f0fb; --bad: #a3221b; --bad-tint: #fdf0ee; --good: #17663a;
  --good-tint: #ebf6ef; --warn: #b25e00;`

export const dark = `--ink: #e6ebf1; --soft: #a6b2be; --line: #2d3843; --edge: #74828f; --ground: #10151b; --card: #182028;
  --accent: #8db6ff; --accent-ink: #0d1b30; --tint: #1e2d44; --bad: #ff9d94; --bad-tint: #331f20; --good: #85d8a8;
  --good-tint: #183026; --warn: #f0b45f;`

export const tableStyle = `table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .625rem 1rem .625rem 0; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
thead th { font-size: .875rem; font-weight: 600; color: var(--soft); vertical-align: bottom; }
tbody th { font-weight: 600; }
tbody :is(th, .broad) { min-width: clamp(7rem, 14vw, 13rem); overflow-wrap: anywhere; }
tbody th a, .take { display: inline-block; }
tbody :is(label, input:not([type=hidden])) { margin: 0; }
tbody tr:last-child > * { border-bottom: 0; }
.figures { text-align: right; white-space: nowrap; }
.score { text-align: right; overflow-wrap: anywhere; padding-right: .5rem; }
td.score { white-space: nowrap; }
td.score small { white-space: normal; }
.drawn { width: 30%; min-width: 10rem; }
.drawn > .bar { margin: .25rem 0; }
`

/** Style of tables on narrow screens: each row becomes a block. */
export const narrowTableStyle = `  section table, section tbody { display: block; }
  section thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  section thead.sorting { display: block; position: static; width: auto; height: auto; overflow: visible; clip-path: none; }
  .sorting tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem; }
  .sorting tr::before { content: "Sort by"; color: var(--soft); font-size: .875rem; }
  .sorting th { display: block; width: auto; min-width: 0; padding: .25rem 0; border: 0; }
  .sorting th:not(:has(a)) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  section tbody tr { display: grid; grid-template-columns: repeat(auto-fit, minmax(6rem, 1fr)); gap: .5rem .75rem; padding: .875rem 0;
    border-bottom: 1px solid var(--line); }
  section tbody tr:has(.figures ~ .figures ~ .figures) { grid-template-columns: repeat(auto-fit, minmax(4.5rem, 1fr)); }
  section tbody tr:last-child { border-bottom: 0; padding-bottom: 0; }
  section tbody :is(th, td, .figures, .score) { display: block; padding: 0; border: 0; min-width: 0; text-align: left; }
  section tbody :is(th, .drawn, .broad) { grid-column: 1 / -1; width: auto; }
  section tbody :is(th, td, .broad) { overflow-wrap: anywhere; min-width: 0; }
  section tbody time { white-space: normal; }
  section td.broad:has(> .none:only-child) { display: none; }
  section tbody th { order: -2; }
  section tbody .drawn { order: -1; }
  section td[data-column]::before { content: attr(data-column); content: attr(data-column) / ""; display: block; font-size: .8125rem; white-space: normal;
    color: var(--soft); }
`

export const chartStyle = `figure { margin: 0; }
svg { display: block; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.columns { overflow: visible; }
.columns text { fill: var(--ink); font-size: 13px; font-weight: 600; text-anchor: middle; }
.columns .few { fill: var(--soft); font-weight: 400; }
.slim { display: none; }
.axis { stroke: var(--edge); }
.whole { fill: transparent; }
.columns svg:hover .whole { fill: var(--tint); }
.done { fill: var(--accent); }
.doing { fill: url(#hatching); }
:is(.columns, .spread) .doing { stroke: var(--accent); }
#hatching .ground { fill: var(--tint); }
#hatching .stroke { fill: var(--accent); }
.bar { border: 1px solid var(--edge); border-radius: 5px; background: var(--card); overflow: hidden; }
.key { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 0 1rem; font-size: .875rem; color: var(--soft); }
.bar + .key { margin: .5rem 0 0; }
.key strong { color: var(--ink); }
.key li { display: flex; align-items: center; gap: .5rem; }
.completion { display: grid; grid-template-columns: minmax(4rem, 1fr) 4.25rem; align-items: center; gap: .75rem; }
.completion span { text-align: right; }
@media screen and (max-width: 52rem) {
  .columns text { font-size: 12px; }
  .wide { display: none; }
  .slim { display: inline; }
}
`

/** Colours of drawings where the user's replace those of the page. */
export const forcedChartStyle = `  .done, #hatching .stroke { fill: CanvasText; }
  :is(.columns, .spread) .doing { stroke: CanvasText; }
  #hatching .ground { fill: Canvas; }
  .columns text, .columns .few { fill: CanvasText; }
  .axis { stroke: CanvasText; }
  .columns svg:hover .whole { fill: transparent; }
`

/** Style of the parts of a report, below the drawings and tables that it shares with other pages. */
export const reportStyle = `.report { font-variant-numeric: tabular-nums; }
.report h1 { margin: 0 0 .25rem; }
.report .about { color: var(--soft); margin: 0 0 1.5rem; max-width: none; }
.report .part-note { color: var(--soft); font-size: .9375rem; margin: -.375rem 0 1rem; max-width: none; }
.report h3 { margin: 1.5rem 0 .5rem; }
.report .key + figure { margin-top: 1.5rem; }
.report h3 .note { color: var(--soft); font-weight: 400; font-size: .875rem; }
.findings { list-style: none; margin: 0; padding: 0; }
.findings li { display: grid; grid-template-columns: 6.5rem 1fr; gap: 0 1.25rem; align-items: baseline; padding: .625rem 0;
  border-top: 1px solid var(--line); break-inside: avoid; }
.findings li:first-child { border-top: 0; padding-top: 0; }
.findings li:last-child { padding-bottom: 0; }
.findings strong { font-size: 1.75rem; font-weight: 650; line-height: 1.2; text-align: right; white-space: nowrap; letter-spacing: -.015em; }
.findings span { max-width: 46rem; overflow-wrap: anywhere; }
.report .tiles { grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); }
.report .trend { margin: 0 0 .75rem; break-inside: avoid; }
.report .drawn > svg { margin: .25rem 0; }
.report td.broad { color: var(--soft); }
.report details table { max-width: 40rem; }
.report .foot { color: var(--soft); font-size: .875rem; max-width: none; margin: 0; }
@media print, (min-width: 52.01rem) { .report .drawn { width: 24%; } }
@media screen and (max-width: 52rem) { .findings li { grid-template-columns: 4.5rem 1fr; gap: 0 .75rem; } .findings strong { font-size: 1.25rem; } }
@media print {
  .report .card { break-inside: auto; padding: 0; border: 0; background: none; margin: 0 0 1.75rem; }
  .report :is(h1, h2, h3, figcaption, .part-note, caption) { break-after: avoid; }
  .report :is(.trend, .tiles, .key, svg) { break-inside: avoid; }
  .report .tiles { grid-template-columns: none; grid-auto-columns: 1fr; grid-auto-flow: column; }
  .report .tiles div { padding: .5rem .75rem; }
  .report .tiles dd { font-size: 1.25rem; }
  .report .drawn { width: 20%; min-width: 6rem; }
  .report tbody th { min-width: 10rem; }
  .report details::details-content { content-visibility: visible; display: block; height: auto; }
  .report summary { display: none; }
  .report :is(th, td) { padding-top: .25rem; padding-bottom: .25rem; }
  .report table { font-size: .8125rem; }
  .report details table { max-width: 30rem; }
  .report details :is(th, td) { padding-top: .0625rem; padding-bottom: .0625rem; }
  .report thead { display: table-header-group; }
}
`

export const documentStyle = `
:root { color-scheme: light dark; ${light} }
@media (prefers-color-scheme: dark) { :root { ${dark} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, sans-serif;
  -webkit-text-size-adjust: 100%; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
main { max-width: 64rem; margin: 0 auto; padding: 2.5rem 1rem 4rem; }
h1 { font-size: 2rem; font-weight: 650; line-height: 1.2; letter-spacing: -.015em; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; font-weight: 650; line-height: 1.3; margin: 0 0 .75rem; }
h3 { font-size: 1rem; font-weight: 650; line-height: 1.3; }
p { margin: 0 0 1rem; max-width: 42rem; overflow-wrap: anywhere; }
small { display: block; font-size: .875rem; font-weight: 400; color: var(--soft); overflow-wrap: anywhere; }
.none { color: var(--soft); }
.unseen, caption { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.key { list-style: none; padding: 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.5rem; margin: 0 0 1.5rem; }
.card > :last-child { margin-bottom: 0; }
.tiles { display: grid; gap: 1px; margin: 0 0 1.5rem; background: var(--line); border: 1px solid var(--line); border-radius: 12px;
  overflow: hidden; }
.tiles div { display: flex; flex-direction: column; background: var(--card); padding: 1rem 1.25rem; }
.tiles dt { color: var(--soft); font-size: .875rem; }
.tiles dd { margin: 0; font-size: 1.75rem; font-weight: 650; line-height: 1.25; }
details { margin: .75rem 0 0; }
summary { cursor: pointer; color: var(--accent); width: max-content; }
details table { margin: .75rem 0 0; }
${tableStyle}${chartStyle}${reportStyle}@media screen and (max-width: 52rem) {
  main { padding: 1.25rem .75rem 3rem; }
  .card { padding: 1.125rem 1rem; }
  .tiles dd { font-size: 1.5rem; }
${narrowTableStyle}}
@media (forced-colors: active) {
${forcedChartStyle}}
@page { margin: 16mm 14mm; }
@media print {
  :root { ${light} }
  body { background: none; font-size: .875rem; }
  main { max-width: none; padding: 0; }
  tr { break-inside: avoid; }
}
`
