/** Style for narrow screens: each row of a table becomes a block. */
export const narrowStyle = `@media (max-width: 52rem) {
  main { padding: 1.25rem .75rem 3rem; }
  .card { padding: 1.125rem 1rem; }
  .banner { padding: .5rem .75rem; }
  .banner { gap: 0 1rem; }
  .banner nav { order: 1; width: 100%; margin: 0 -.5rem; }
  .banner ul { gap: 0; }
  .banner nav a { padding: .5rem; font-size: .9375rem; }
  .who { flex: 1; justify-content: flex-end; }
  .who span { font-size: .8125rem; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tiles div { padding: .75rem 1rem; }
  .tiles div:last-child:nth-child(odd) { grid-column: 1 / -1; }
  .tiles dd { font-size: 1.5rem; }
  .columns text { font-size: 12px; }
  .filter .apart { margin-left: 0; }
  .below { align-items: flex-start; flex-direction: column; }
  .wide { display: none; }
  .slim { display: inline; }
  section table, section tbody { display: block; }
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
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin: 0 0 .625rem; }
}
`
