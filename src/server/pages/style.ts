import { hash } from 'node:crypto'

/** The one style sheet of all pages. It stands in each page, so that a page needs no second request. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2733; --soft: #51606f; --line: #d5dce3; --ground: #f6f8fa; --card: #fff;
  --accent: #0b57b0; --accent-ink: #fff; --bad: #a3221b; --good: #17663a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #a5b1bd; --line: #36424e; --ground: #12181e;
  --card: #1b232b; --accent: #7ab4ff; --accent-ink: #0c1a2b; --bad: #ff9d94; --good: #7fd6a3; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--accent); }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
main.narrow { max-width: 30rem; padding-top: 3rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.5rem; margin: 0 0 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 0 0 .75rem; }
label { display: block; font-weight: 600; margin: 0 0 .25rem; }
input:not([type=checkbox], [type=radio]), select, textarea { width: 100%; padding: .55rem .7rem; margin: 0 0 1rem;
  font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--soft); border-radius: 6px; }
button { font: inherit; font-weight: 600; padding: .55rem 1.1rem; border-radius: 6px; border: 1px solid var(--accent);
  background: var(--accent); color: var(--accent-ink); cursor: pointer; }
button.quiet { background: transparent; color: var(--accent); }
button.danger { background: transparent; color: var(--bad); border-color: var(--bad); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0 0; }
.note { color: var(--soft); }
.fault { color: var(--bad); font-weight: 600; }
.good { color: var(--good); font-weight: 600; }
code, .code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
.code { display: block; padding: .75rem; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; }
`

/** The style sheet as a Content-Security-Policy source (CSP Level 3 §2.3.1). */
export const styleSource = `'sha256-${hash('sha256', style, 'base64')}'`
