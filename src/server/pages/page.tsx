import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { type ErrorStatus, phraseOf } from '../../contract/errors.ts'
import type { Reply } from '../http/reply.ts'
import type { Visit, WebRoute } from '../http/web-route.ts'
import type { ProblemError } from '../problem-error.ts'
import { principalOf, type Visitor, visitorOf } from './browser-session.ts'
import { sourceOf, style, styleSource } from './style.ts'

export interface PageOptions {
  readonly title: string
  readonly fault?: ProblemError | undefined
  /** Header names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** CSP source that its forms may redirect to besides this site: browsers apply form-action to redirects, too. */
  readonly formTarget?: string | undefined
  readonly banner?: Child
  readonly style?: string | undefined
  /** A single narrow column, as for a sign-in form. */
  readonly narrow?: boolean
}

/** Self-contained: no scripts, no other files, no framing. */
export function page(options: PageOptions, content: Child): Reply {
  const { title, fault, headers, formTarget, banner, narrow, style: ownStyle } = options
  const html = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · learnctl academy`}</title>
        <style>{raw(style)}</style>
        {ownStyle === undefined ? null : <style>{raw(ownStyle)}</style>}
      </head>
      <body>
        {banner ?? <Mark />}
        <main id="content" tabindex={-1} class={narrow ? 'narrow' : undefined}>
          {content}
        </main>
      </body>
    </html>
  )
  return {
    status: fault?.status ?? 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': [
        "default-src 'none'",
        `style-src ${styleSource}${ownStyle === undefined ? '' : ` ${sourceOf(ownStyle)}`}`,
        `form-action 'self'${formTarget ? ` ${formTarget}` : ''}`,
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      // With no-referrer browsers send `Origin: null` with forms (Fetch §3.1, "Origin").
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'x-frame-options': 'DENY',
      ...headers,
      ...fault?.headers,
    },
    body: `<!DOCTYPE html>${html}`,
    ...(fault && { code: fault.code }),
  }
}

function Mark() {
  return (
    <header class="banner">
      <span class="mark">
        learnctl <span>academy</span>
      </span>
    </header>
  )
}

/** 303, so that going back does not resend a form. */
export function seeOther(location: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 303, headers: { location, 'referrer-policy': 'same-origin', ...headers }, body: null }
}

export function hereOf({ base, request }: Visit): string {
  return base + request.path + (request.search === '' ? '' : `?${request.search}`)
}

/** They replace the reason phrases of HTTP. */
const titles: Partial<Record<ErrorStatus, string>> = {
  400: 'This link does not work',
  403: 'Not allowed',
}

export function refusalPage(fault: ProblemError, { requestId }: { readonly requestId: string }): Reply {
  const title = titles[fault.status] ?? phraseOf[fault.status]
  return page(
    { title, fault, narrow: true },
    <div class="card">
      <h1>{title}</h1>
      <p>{fault.message}</p>
      <p class="note">
        Request <code>{requestId}</code>
      </p>
    </div>,
  )
}

interface PageRoute extends Pick<WebRoute, 'method' | 'path'> {
  readonly handle: (visit: Visit, visitor: Visitor) => Reply | Promise<Reply>
}

export function pageRoute({ method, path, handle }: PageRoute): WebRoute {
  return {
    method,
    path,
    countsItself: true,
    refuse: refusalPage,
    async handle(visit) {
      const visitor = await visitorOf(visit)
      const { user } = visitor
      // Signed-in users have their own rate limit, apart from other visitors at the same address.
      if (user) visit.countAs({ kind: 'known', name: user.id }, principalOf(user))
      else visit.countAs()
      return handle(visit, visitor)
    },
  }
}
