import { hash } from 'node:crypto'

export interface CallbackPage {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const style = `
:root { color-scheme: light dark; --ink: #1c2733; --soft: #51606f; --line: #d5dce3; --ground: #f6f8fa; --card: #fff;
  --good: #17663a; --bad: #a3221b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #a5b1bd; --line: #36424e; --ground: #12181e;
  --card: #1b232b; --good: #7fd6a3; --bad: #ff9d94; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 32rem; margin: 12vh auto 0; padding: 0 1rem; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 2rem; }
svg { display: block; width: 3rem; height: 3rem; margin: 0 0 1rem; fill: none; stroke: currentColor; stroke-width: 2.5;
  stroke-linecap: round; stroke-linejoin: round; }
.good { color: var(--good); }
.bad { color: var(--bad); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; }
p { margin: 0 0 .75rem; overflow-wrap: anywhere; }
p:last-child { margin: 0; color: var(--soft); }
`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  // The URL of this page contains the code.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  connection: 'close',
}

const tick =
  '<svg class="good" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="m7.5 12.5 3 3 6-6.5"/></svg>'
const cross =
  '<svg class="bad" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="m8.5 8.5 7 7m0-7-7 7"/></svg>'

export function successPage(place: string, account: string | null): CallbackPage {
  const who = account === null ? '' : ` as <strong>${escaped(account)}</strong>`
  return page(200, 'You are signed in', tick, [
    `learnctl is signed in to <strong>${escaped(place)}</strong>${who}.`,
    'You can close this page and return to the terminal.',
  ])
}

export function failurePage(reason: string): CallbackPage {
  return page(400, 'Sign-in failed', cross, [
    `${escaped(reason)}.`,
    'Return to the terminal to see what to do next. You can close this page.',
  ])
}

function page(status: number, title: string, picture: string, paragraphs: readonly string[]): CallbackPage {
  const body = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · learnctl</title>
<style>${style}</style>
</head>
<body>
<main>
<article>
${picture}
<h1>${title}</h1>
${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}
</article>
</main>
</body>
</html>
`
  return { status, headers, body }
}

const plainTexts = {
  400: 'This request does not belong to the sign-in that learnctl is waiting for.\n',
  404: 'Not found.\n',
  405: 'Method not allowed.\n',
} as const

export function plainAnswer(status: 400 | 404 | 405): CallbackPage {
  return {
    status,
    headers: {
      ...headers,
      'content-type': 'text/plain; charset=utf-8',
      ...(status === 405 && { allow: 'GET' }),
    },
    body: plainTexts[status],
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
